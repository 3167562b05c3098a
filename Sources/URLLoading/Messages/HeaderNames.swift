/// How field names are written and compared in the dictionaries of requests and responses. Case has no meaning on the
/// wire (RFC 9110 §5.1), but it has for code that looks a name up in such a dictionary.
enum HeaderNames {
    /// Returns the name with each word's first letter in upper case and the rest in lower: `content-type` is
    /// `Content-Type`, `ETAG` is `Etag`. This is FoundationNetworking's spelling, which its users look for. A word
    /// begins at a letter that follows no letter, not even across an apostrophe.
    static func capitalized(_ name: String) -> String {
        if isCapitalized(name) { return name }
        var result: [UInt8] = []
        result.reserveCapacity(name.utf8.count)
        var isInside = false
        for octet in name.utf8 { result.append(cased(octet, &isInside)) }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the spelling in ``HTTPURLResponse/allHeaderFields``: capitalised, except for names that begin with `X-`
    /// and for the one name with an abbreviation in it.
    static func inResponse(_ name: String) -> String {
        if name.utf8.starts(with: "x-".utf8) || name.utf8.starts(with: "X-".utf8) { return name }
        let name = capitalized(name)
        return name == "Www-Authenticate" ? "WWW-Authenticate" : name
    }

    static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    static func lowercased(_ octet: UInt8) -> UInt8 {
        isUpper(octet) ? octet | 0x20 : octet
    }

    static func isLetter(_ octet: UInt8) -> Bool { (octet | 0x20) &- 0x61 < 26 }

    static func isLetterOrDigit(_ octet: UInt8) -> Bool { isLetter(octet) || octet &- 0x30 < 10 }

    private static func isUpper(_ octet: UInt8) -> Bool { octet &- 0x41 < 26 }

    private static func isCapitalized(_ name: String) -> Bool {
        var isInside = false
        return name.utf8.allSatisfy { cased($0, &isInside) == $0 }
    }

    /// Returns the octet in the case that its place in a word needs.
    ///
    /// - Parameter isInside: whether the place is within a word.
    private static func cased(_ octet: UInt8, _ isInside: inout Bool) -> UInt8 {
        guard isLetter(octet) else {
            isInside = isInside && octet == UInt8(ascii: "'")
            return octet
        }
        defer { isInside = true }
        return isInside ? octet | 0x20 : octet & ~0x20
    }
}
