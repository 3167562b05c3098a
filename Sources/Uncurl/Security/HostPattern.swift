internal import TLS

/// Which hosts a rule is for: `example.com` and no other; `*.example.com`, one label more, as certificates have it;
/// `**.example.com`, one or more. An address stands for itself.
struct HostPattern: Hashable, Sendable {
    /// In the order of their precedence.
    enum Kind: Int, Hashable, Sendable { case exact, oneLabel, anyLabels }

    let kind: Kind
    /// Lower-case, without a trailing dot.
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

    /// - Parameter host: as ``ServerName`` writes it.
    func matches(_ host: String) -> Bool {
        if kind == .exact { return host == name }
        guard host.count > name.count + 1, host.hasSuffix("." + name) else { return false }
        return kind == .anyLabels || !host.dropLast(name.count + 1).contains(".")
    }

    /// The more exact before the less: a whole name, then the longer one with fewer labels left open.
    static func precedes(_ left: HostPattern, _ right: HostPattern) -> Bool {
        if (left.kind == .exact) != (right.kind == .exact) { return left.kind == .exact }
        if left.name.count != right.name.count { return left.name.count > right.name.count }
        return left.kind.rawValue < right.kind.rawValue
    }
}
