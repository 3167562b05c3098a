/// The domains below which anyone may register a name: `com`, `co.uk`, `github.io`. No host below such a domain may set
/// cookies for all hosts below it.
public struct PublicSuffixes: Sendable {
    /// Whether a domain is a public suffix. The domain is in lower case, in ASCII, and has no trailing dot.
    public typealias Rule = @Sendable (_ domain: String) -> Bool

    /// The suffixes of the ``PublicSuffixList``.
    public static let list = PublicSuffixes(nil)

    /// The most octets of a name of the DNS (RFC 1035 §2.3.4) in text, with its trailing dot. A longer host does not
    /// exist, and each of its labels would cost a look-up.
    private static let lengthLimit = 254

    /// The rule; nil for the built-in list.
    private let rule: Rule?

    /// - Parameter rule: replaces the ``PublicSuffixList``; nil for the list. It must not block: it is called while a
    ///   request is made.
    public init(_ rule: Rule?) { self.rule = rule }

    /// Whether the domain is a public suffix. Names of one label always are: the list's default rule is `*`.
    ///
    /// - Parameter domain: in lower case, in ASCII; one trailing dot is ignored.
    public func contains(_ domain: String) -> Bool {
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        guard domain.utf8.contains(UInt8(ascii: ".")) else { return true }
        return rule.map { $0(domain) } ?? PublicSuffixList.contains(domain)
    }

    /// Whether two hosts share a registrable domain: then they are one site (RFC 6265bis §5.2).
    public func areSameSite(_ left: String, _ right: String) -> Bool {
        left == right || registrable(left) == registrable(right)
    }

    /// Whether a rule with a star makes the domain a suffix and an exception lets it be registered: `city.kobe.jp`.
    private func isException(_ domain: Substring) -> Bool {
        rule == nil && PublicSuffixList.isException(String(domain))
    }

    /// Returns the public suffix with the label before it; for a host that is a public suffix, or too long for a name
    /// of the DNS, the host itself.
    public func registrable(_ host: String) -> Substring {
        var domain = host[...]
        guard host.utf8.count <= Self.lengthLimit else { return domain }
        while let dot = domain.firstIndex(of: ".") {
            let parent = domain[domain.index(after: dot)...]
            if parent.isEmpty || contains(String(parent)) || isException(domain) { return domain }
            domain = parent
        }
        return domain
    }
}
