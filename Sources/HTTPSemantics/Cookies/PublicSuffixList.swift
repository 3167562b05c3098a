internal import CPublicSuffixes

/// The list of publicsuffix.org as it was when ``version`` was made: the domains below which anyone registers names,
/// those of registries (`co.uk`) and those of companies (`github.io`). `./dev publicsuffix` renews it.
///
/// 150 KB of text in the program, a rule a line, labels from the last to the first and sorted: found by halving, with
/// nothing to be made of it first.
public enum PublicSuffixList {
    /// Of the list.
    public static var version: String { unsafe String(cString: uncurl_public_suffixes_version()) }

    /// By the algorithm of publicsuffix.org, without its default rule, by which names of one label are suffixes.
    ///
    /// - Parameter domain: lower case, in ASCII, without a trailing dot.
    public static func contains(_ domain: String) -> Bool {
        let (key, parent) = key(of: domain)
        // An exception counts for more than any rule.
        if holds(key + [UInt8(ascii: "!")]) { return false }
        if holds(key) { return true }
        return parent > 0 && holds(key[..<parent] + [UInt8(ascii: "."), UInt8(ascii: "*")])
    }

    /// Whether the list excepts the domain from a rule with a star.
    public static func isException(_ domain: String) -> Bool { holds(key(of: domain).octets + [UInt8(ascii: "!")]) }

    /// Labels from the last to the first, and how many octets of that are the parent's.
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

    /// Whether the text has such a line.
    private static func holds(_ line: some Collection<UInt8>) -> Bool {
        let text = unsafe UnsafeRawBufferPointer(
            start: uncurl_public_suffixes(),
            count: Int(uncurl_public_suffixes_length())
        )
        // Both are places where a line begins, or the end of the text.
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
