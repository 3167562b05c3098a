internal import CUncurlPublicSuffixes

/// The domains below which anyone may register a name: `com`, `co.uk`, `github.io`. No host below such a domain may set
/// cookies for all hosts below it.
public struct PublicSuffixes: Sendable {
    /// Whether a domain is a public suffix. The domain is in lower case, in ASCII, and has no trailing dot.
    public typealias Rule = @Sendable (_ domain: String) -> Bool

    /// The suffixes of the list of publicsuffix.org.
    public static let list = PublicSuffixes(nil)

    /// The most octets of a name of the DNS (RFC 1035 §2.3.4) in text, with its trailing dot. A longer host does not
    /// exist, and each of its labels would cost a look-up.
    private static let lengthLimit = 254

    /// The rule; nil for the built-in list.
    private let rule: Rule?

    /// - Parameter rule: replaces the list of publicsuffix.org; nil for the list. It must not block: it is called while
    ///   a request is made.
    public init(_ rule: Rule?) { self.rule = rule }

    /// Whether the domain is a public suffix. Names of one label always are: the list's default rule is `*`.
    ///
    /// - Parameter domain: in lower case, in ASCII; one trailing dot is ignored.
    public func contains(_ domain: String) -> Bool {
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        guard domain.utf8.contains(UInt8(ascii: ".")) else { return true }
        return rule.map { $0(domain) } ?? PublicSuffixes.lists(domain)
    }

    /// Whether two hosts share a registrable domain: then they are one site (RFC 6265bis §5.2).
    public func areSameSite(_ left: String, _ right: String) -> Bool {
        left == right || registrable(left) == registrable(right)
    }

    /// Whether a rule with a star makes the domain a suffix and an exception lets it be registered: `city.kobe.jp`.
    private func isException(_ domain: Substring) -> Bool {
        rule == nil && PublicSuffixes.isException(String(domain))
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

/// The list of publicsuffix.org as it was when ``version`` was made: the domains below which anyone can register names,
/// those of registries (`co.uk`) and those of companies (`github.io`). `tools/publicsuffix` renews it.
///
/// It is 150 KB of text in the program, one rule a line, with labels from the last to the first, and sorted: rules are
/// found by binary search, with nothing to prepare.
extension PublicSuffixes {
    /// The list's version.
    public static var version: String { unsafe String(cString: uncurl_public_suffixes_version()) }

    /// Whether the list holds the domain, by the algorithm of publicsuffix.org without its default rule, which makes
    /// names of one label suffixes.
    ///
    /// - Parameter domain: in lower case, in ASCII, without a trailing dot.
    static func lists(_ domain: String) -> Bool {
        let (key, parent) = key(of: domain)
        // An exception takes precedence over any rule.
        if holds(key + [UInt8(ascii: "!")]) { return false }
        if holds(key) { return true }
        return parent > 0 && holds(key[..<parent] + [UInt8(ascii: "."), UInt8(ascii: "*")])
    }

    /// Whether the list excepts the domain from a rule with a star.
    private static func isException(_ domain: String) -> Bool { holds(key(of: domain).octets + [UInt8(ascii: "!")]) }

    /// Returns the labels from the last to the first, and how many octets of that are the parent's.
    private static func key(of domain: String) -> (octets: [UInt8], parent: Int) {
        var key: [UInt8] = []
        key.reserveCapacity(domain.utf8.count + 2)
        var parent = 0
        for label in domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).reversed() {
            parent = key.count
            if !key.isEmpty { key.append(UInt8(ascii: ".")) }
            key.append(contentsOf: label)
        }
        return (key, parent)
    }

    /// Whether the text holds such a line.
    private static func holds(_ line: some Collection<UInt8>) -> Bool {
        let text = unsafe UnsafeRawBufferPointer(
            start: uncurl_public_suffixes(),
            count: Int(uncurl_public_suffixes_length())
        )
        // Both are positions where a line begins, or the end of the text.
        var (low, high) = (0, text.count)
        while low < high {
            var start = low + (high - low) / 2
            while unsafe start > low && text[start - 1] != newline { start -= 1 }
            var end = start
            while unsafe text[end] != newline { end += 1 }
            let found = unsafe text[start..<end]
            if unsafe found.elementsEqual(line) { return true }
            if unsafe found.lexicographicallyPrecedes(line) { low = end + 1 } else { high = start }
        }
        return false
    }

    private static let newline = UInt8(ascii: "\n")
}
