public import URLLoading
internal import UncurlTLS
internal import UncurlText

/// One rule for each host. A host without a rule is refused by default.
///
/// ```swift
/// let policies = try HostPolicies(["api.example.com": pinned, "*.example.com": SecurityPolicy.default])
/// ```
///
/// Patterns: `example.com` matches this host only; `*.example.com` matches one label more; `**.example.com` matches one
/// or more labels more; an address matches itself. Case and a trailing dot are ignored. A name outside ASCII is written
/// in its A-labels (`xn--…`). The most specific pattern applies.
public struct HostPolicies: ServerTrustEvaluator {
    /// What happens to a host without a rule.
    @frozen public enum UnknownHosts: Sendable {
        /// The host is refused, with ``TrustFailure/Reason-swift.enum/unknownHost``.
        case refused
        /// Another evaluator judges the host.
        case evaluated(by: any ServerTrustEvaluator)
    }

    private let rules: [(pattern: HostPattern, evaluator: any ServerTrustEvaluator)]
    /// Judges the hosts without a rule; nil refuses them.
    private let other: (any ServerTrustEvaluator)?

    /// - Parameters:
    ///   - rules: the rules by their patterns.
    ///   - unknownHosts: what happens to a host that no pattern matches.
    /// - Throws: ``SecurityPolicyError`` for a malformed pattern, and for two patterns of the same hosts.
    public init(
        _ rules: [String: any ServerTrustEvaluator],
        unknownHosts: UnknownHosts = .refused
    ) throws(SecurityPolicyError) {
        var found: [(pattern: HostPattern, evaluator: any ServerTrustEvaluator)] = []
        var seen = Set<HostPattern>()
        for (text, evaluator) in rules {
            let pattern = try HostPattern(text)
            guard seen.insert(pattern).inserted else { throw .repeatedPattern(text) }
            found.append((pattern, evaluator))
        }
        self.rules = found.sorted { HostPattern.precedes($0.pattern, $1.pattern) }
        other = if case .evaluated(let evaluator) = unknownHosts { evaluator } else { nil }
    }

    /// The rule for a host; nil where the host is refused.
    public func evaluator(for host: String) -> (any ServerTrustEvaluator)? {
        guard let name = try? ServerName(host) else { return nil }
        return rules.first { $0.pattern.matches(name.text) }?.evaluator ?? other
    }

    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        guard let evaluator = evaluator(for: host) else {
            throw TrustFailure(host: host, reason: .unknownHost, words: "there is no rule for this host")
        }
        try evaluator.evaluate(trust, host: host)
    }

    /// Whether any rule pins.
    public var isPinning: Bool { rules.contains { $0.evaluator.isPinning } || other?.isPinning ?? false }
}

extension HostPolicies: CustomStringConvertible {
    public var description: String {
        let prefixes = [0: "", 1: "*."]
        let hosts = rules.map { "\(prefixes[$0.pattern.labels] ?? "**.")\($0.pattern.name): \($0.evaluator)" }
        return described(Self.self, ["": hosts.joined(separator: ", "), "others": other])
    }
}

/// The hosts of a rule: `example.com` is this host only; `*.example.com` is one label more, as in certificates;
/// `**.example.com` is one or more labels more. An address matches itself.
struct HostPattern: Hashable, Sendable {
    /// The most labels that a host has before the name: 0, 1, or any number.
    let labels: Int
    /// In lower case, without a trailing dot.
    let name: String

    init(_ text: String) throws(SecurityPolicyError) {
        let octets = text.utf8[...]
        let (labels, rest): (Int, Substring.UTF8View) =
            if octets.starts(with: "**.".utf8) {
                (.max, octets.dropFirst(3))
            } else if octets.starts(with: "*.".utf8) {
                (1, octets.dropFirst(2))
            } else {
                (0, octets)
            }
        guard let name = try? ServerName(String(Substring(rest))), labels == 0 || !name.isAddress else {
            throw .invalidPattern(text)
        }
        self.labels = labels
        self.name = name.text
    }

    /// - Parameter host: a host as ``ServerName`` writes it.
    func matches(_ host: String) -> Bool {
        if labels == 0 { return host.utf8.elementsEqual(name.utf8) }
        let suffix = ".\(name)".utf8
        guard host.utf8.count > suffix.count, host.utf8.suffix(suffix.count).elementsEqual(suffix) else { return false }
        return labels > 1 || !host.utf8.dropLast(suffix.count).contains(UInt8(ascii: "."))
    }

    /// Whether the left pattern is more specific: an exact name first, then the longer name, then the kind with one
    /// label.
    static func precedes(_ left: HostPattern, _ right: HostPattern) -> Bool {
        if (left.labels == 0) != (right.labels == 0) { return left.labels == 0 }
        if left.name.utf8.count != right.name.utf8.count { return left.name.utf8.count > right.name.utf8.count }
        return left.labels < right.labels
    }
}
