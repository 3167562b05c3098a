internal import UncurlText

/// How field names are written and compared in the dictionaries of requests and responses. Case has no meaning on the
/// wire (RFC 9110 §5.1), but it has for code that looks a name up in such a dictionary.
extension String {
    /// The name with each word's first letter in upper case and the rest in lower: `content-type` is `Content-Type`,
    /// `ETAG` is `Etag`. This is FoundationNetworking's spelling, which its users look for. A word begins at a letter
    /// that follows no letter, not even across an apostrophe.
    var capitalizedFieldName: String {
        var isInside = false
        if utf8.allSatisfy({ $0.cased(&isInside) == $0 }) { return self }
        isInside = false
        return String(decoding: utf8.map { $0.cased(&isInside) }, as: UTF8.self)
    }

    /// The spelling in ``HTTPURLResponse/allHeaderFields``: capitalised, except for names that begin with `X-` and for
    /// the one name with an abbreviation in it.
    var responseFieldName: String {
        if utf8.starts(with: "x-".utf8) || utf8.starts(with: "X-".utf8) { return self }
        let name = capitalizedFieldName
        return name == "Www-Authenticate" ? "WWW-Authenticate" : name
    }

    /// Whether the names are equal but for the case of ASCII letters.
    func isSameName(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension UInt8 {
    /// Returns the octet in the case that its place in a word needs.
    ///
    /// - Parameter isInside: whether the place is within a word.
    fileprivate func cased(_ isInside: inout Bool) -> UInt8 {
        guard isASCIILetter else {
            isInside = isInside && self == UInt8(ascii: "'")
            return self
        }
        defer { isInside = true }
        return isInside ? self | 0x20 : self & ~0x20
    }
}
