internal import CUncurlPublicSuffixes

/// The list of publicsuffix.org as it was when ``version`` was made: the domains below which anyone can register names,
/// those of registries (`co.uk`) and those of companies (`github.io`). `tools/publicsuffix` renews it.
///
/// It is 150 KB of text in the program, one rule a line, with labels from the last to the first, and sorted: rules are
/// found by binary search, with nothing to prepare.
public enum PublicSuffixList {
    /// The list's version.
    public static var version: String { unsafe String(cString: uncurl_public_suffixes_version()) }

    /// Whether the list holds the domain, by the algorithm of publicsuffix.org without its default rule, which makes
    /// names of one label suffixes.
    ///
    /// - Parameter domain: in lower case, in ASCII, without a trailing dot.
    public static func contains(_ domain: String) -> Bool {
        let (key, parent) = key(of: domain)
        // An exception takes precedence over any rule.
        if holds(key + [UInt8(ascii: "!")]) { return false }
        if holds(key) { return true }
        return parent > 0 && holds(key[..<parent] + [UInt8(ascii: "."), UInt8(ascii: "*")])
    }

    /// Whether the list excepts the domain from a rule with a star.
    public static func isException(_ domain: String) -> Bool { holds(key(of: domain).octets + [UInt8(ascii: "!")]) }

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
