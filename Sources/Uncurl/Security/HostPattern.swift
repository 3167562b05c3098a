internal import UncurlTLS

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
