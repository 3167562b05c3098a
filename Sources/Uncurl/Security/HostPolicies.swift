public import URLLoading
internal import UncurlTLS

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
    private let unknownHosts: UnknownHosts

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
        self.unknownHosts = unknownHosts
    }

    /// The rule for a host; nil where the host is refused.
    public func evaluator(for host: String) -> (any ServerTrustEvaluator)? {
        guard let name = try? ServerName(host) else { return nil }
        if let rule = rules.first(where: { $0.pattern.matches(name.text) }) { return rule.evaluator }
        return switch unknownHosts {
        case .refused: nil
        case .evaluated(let evaluator): evaluator
        }
    }

    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        guard let evaluator = evaluator(for: host) else {
            throw TrustFailure(host: host, reason: .unknownHost, words: "there is no rule for this host")
        }
        try evaluator.evaluate(trust, host: host)
    }

    /// Whether any rule pins.
    public var isPinning: Bool {
        if rules.contains(where: { $0.evaluator.isPinning }) { return true }
        return switch unknownHosts {
        case .refused: false
        case .evaluated(let evaluator): evaluator.isPinning
        }
    }
}

/// The hosts of a rule: `example.com` is this host only; `*.example.com` is one label more, as in certificates;
/// `**.example.com` is one or more labels more. An address matches itself.
struct HostPattern: Hashable, Sendable {
    /// The kinds in the order of their precedence.
    enum Kind: Int, Hashable, Sendable { case exact, oneLabel, anyLabels }

    let kind: Kind
    /// In lower case, without a trailing dot.
    let name: String

    init(_ text: String) throws(SecurityPolicyError) {
        let octets = text.utf8[...]
        let (kind, rest): (Kind, Substring.UTF8View) =
            if octets.starts(with: "**.".utf8) {
                (.anyLabels, octets.dropFirst(3))
            } else if octets.starts(with: "*.".utf8) {
                (.oneLabel, octets.dropFirst(2))
            } else {
                (.exact, octets)
            }
        guard let name = try? ServerName(String(Substring(rest))), kind == .exact || !name.isAddress else {
            throw .invalidPattern(text)
        }
        self.kind = kind
        self.name = name.text
    }

    /// - Parameter host: a host as ``ServerName`` writes it.
    func matches(_ host: String) -> Bool {
        if kind == .exact { return host.utf8.elementsEqual(name.utf8) }
        let suffix = ".\(name)".utf8
        guard host.utf8.count > suffix.count, host.utf8.suffix(suffix.count).elementsEqual(suffix) else { return false }
        return kind == .anyLabels || !host.utf8.dropLast(suffix.count).contains(UInt8(ascii: "."))
    }

    /// Whether the left pattern is more specific: an exact name first, then the longer name, then the kind with one
    /// label.
    static func precedes(_ left: HostPattern, _ right: HostPattern) -> Bool {
        if (left.kind == .exact) != (right.kind == .exact) { return left.kind == .exact }
        if left.name.utf8.count != right.name.utf8.count { return left.name.utf8.count > right.name.utf8.count }
        return left.kind.rawValue < right.kind.rawValue
    }
}
