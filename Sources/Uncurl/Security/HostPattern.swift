internal import TLS

/// The hosts of a rule: `example.com` is this host only; `*.example.com` is one label more, as in certificates;
/// `**.example.com` is one or more labels more. An address matches itself.
struct HostPattern: Hashable, Sendable {
    /// The kinds in the order of their precedence.
    enum Kind: Int, Hashable, Sendable { case exact, oneLabel, anyLabels }

    let kind: Kind
    /// In lower case, without a trailing dot.
    let name: String

    init(_ text: String) throws(SecurityPolicyError) {
        let (kind, rest): (Kind, Substring) =
            if text.hasPrefix("**.") {
                (.anyLabels, text.dropFirst(3))
            } else if text.hasPrefix("*.") {
                (.oneLabel, text.dropFirst(2))
            } else {
                (.exact, text[...])
            }
        guard let name = try? ServerName(String(rest)), kind == .exact || !name.isAddress else {
            throw .invalidPattern(text)
        }
        self.kind = kind
        self.name = name.text
    }

    /// - Parameter host: a host as ``ServerName`` writes it.
    func matches(_ host: String) -> Bool {
        if kind == .exact { return host == name }
        guard host.count > name.count + 1, host.hasSuffix("." + name) else { return false }
        return kind == .anyLabels || !host.dropLast(name.count + 1).contains(".")
    }

    /// Whether the left pattern is more specific: an exact name first, then the longer name, then the kind with one
    /// label.
    static func precedes(_ left: HostPattern, _ right: HostPattern) -> Bool {
        if (left.kind == .exact) != (right.kind == .exact) { return left.kind == .exact }
        if left.name.count != right.name.count { return left.name.count > right.name.count }
        return left.kind.rawValue < right.kind.rawValue
    }
}
