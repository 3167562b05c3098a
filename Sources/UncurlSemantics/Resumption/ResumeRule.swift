internal import UncurlHTTP1
internal import UncurlText

/// Whether a server's answer is the rest of what is on disk (RFC 9110 §14, §15.3.7). Any doubt starts the download
/// over: a file of two halves is worse than a second transfer.
public enum ResumeRule {
    /// Where the content of an answer is written, if it goes to a file.
    public enum Placement: Hashable, Sendable {
        /// At the beginning of a new file.
        case whole
        /// At the beginning of a new file; what an earlier download has left is of no use, and is removed.
        case wholeInsteadOfRest
        /// After what an earlier download has left.
        ///
        /// - `total`: the length of the whole, in octets.
        case rest(total: Int64)
    }

    /// Returns where the content of an answer belongs. Nil for an answer that is of no use: the request is sent again,
    /// for the whole.
    ///
    /// - Parameters:
    ///   - status: the response's status.
    ///   - contentCoding: the value of Content-Encoding; nil without one.
    ///   - contentRange: the value of the field; nil without one.
    ///   - entityTag: the value of the field; nil without one.
    ///   - lastModified: the value of the field; nil without one.
    ///   - contentLength: the length of this response's content; -1 where it is not known.
    ///   - validator: the strong validator that was sent.
    ///   - received: the length of what is on disk.
    ///   - expected: the length of the whole as it was known; -1 if it was not.
    public static func decide(
        status: Int,
        contentCoding: String? = nil,
        contentRange: String?,
        entityTag: String?,
        lastModified: String?,
        contentLength: Int64,
        validator: String,
        received: Int64,
        expected: Int64
    ) -> Placement? {
        // What is on disk is not coded, and a request for a range has its answer's content as it comes.
        let isCoded = contentCoding.map { $0.ascii?.lowercased() != "identity" } ?? false
        switch status {
        case 200..<300 where isCoded: return nil
        case 206:
            guard let range = contentRange.flatMap(Self.range), range.first == received else { return nil }
            guard let total = range.total, expected < 0 || total == expected, range.last == total - 1 else {
                return nil
            }
            guard contentLength < 0 || contentLength == total - received else { return nil }
            // A server that has ignored If-Range still says what it sends.
            guard mayBeOfContent(validator, entityTag, lastModified) else { return nil }
            return .rest(total: total)
        case 416:
            // The server has fewer bytes than are on disk and has ignored If-Range: this is other content.
            return nil
        default:
            return .wholeInsteadOfRest
        }
    }

    /// The length of the whole content, if an answer is the part of it that was asked for; nil if it is not.
    ///
    /// - Parameters:
    ///   - part: the bytes that were asked for.
    ///   - status: of the response.
    ///   - contentRange: its field; nil without one.
    ///   - entityTag: its field; nil without one.
    ///   - lastModified: its field; nil without one.
    ///   - validator: the content's; nil: no answer has come before this one.
    ///   - total: the content's length; nil: no answer has come before this one. The content may be shorter than the
    ///     part then.
    package static func wholeLength(
        ofPart part: ClosedRange<Int64>,
        status: Int,
        contentRange: String?,
        entityTag: String?,
        lastModified: String?,
        validator: String?,
        total: Int64?
    ) -> Int64? {
        guard status == 206, let range = contentRange.flatMap(Self.range), let whole = range.total,
            range.first == part.lowerBound, range.last == min(part.upperBound, whole - 1), total ?? whole == whole
        else { return nil }
        // A server that has not looked at If-Range says itself what it sends.
        if let validator, !mayBeOfContent(validator, entityTag, lastModified) { return nil }
        return whole
    }

    /// Whether an answer's own validator, if it has one of that kind, is the same.
    private static func mayBeOfContent(_ validator: String, _ entityTag: String?, _ lastModified: String?) -> Bool {
        let isTag = validator.utf8.first == UInt8(ascii: "\"")
        guard let own = isTag ? entityTag : lastModified else { return true }
        return own.utf8.elementsEqual(validator.utf8)
    }

    /// What to send as If-Range; nil where nothing tells the content apart for sure. A date counts only if it is a
    /// minute older than the answer: within the same second, content may have changed twice (RFC 9110 §8.8.2.2).
    ///
    /// - Parameters:
    ///   - entityTag: the value of the response's field; nil without one.
    ///   - lastModified: the value of the response's field; nil without one.
    ///   - date: when the answer was made, as it says, in seconds since 1970.
    ///   - now: seconds since 1970, for dates with years of two digits.
    public static func validator(entityTag: String?, lastModified: String?, date: Int64?, now: Int64) -> String? {
        let quote = UInt8(ascii: "\"")
        if let entityTag, entityTag.utf8.count >= 2, entityTag.utf8.first == quote, entityTag.utf8.last == quote {
            return entityTag
        }
        guard let lastModified, let date,
            let changed = HTTPDate.parse(Array(lastModified.utf8).span, now: now)
        else { return nil }
        return date.subtractingReportingOverflow(changed).partialValue >= 60 ? lastModified : nil
    }
}

extension ResumeRule {
    /// Reads `bytes first-last/total` (RFC 9110 §14.4); the total is nil for `*`.
    private static func range(_ contentRange: String) -> (first: Int64, last: Int64, total: Int64?)? {
        var reader = FieldReader(contentRange.utf8)
        reader.skipBlanks()
        guard reader.token()?.map(\.lowercasedASCII) == Array("bytes".utf8),
            !reader.take(while: { $0 == UInt8(ascii: " ") }).isEmpty,
            let first = number(&reader), reader.take(UInt8(ascii: "-")), let last = number(&reader), first <= last,
            reader.take(UInt8(ascii: "/"))
        else { return nil }
        if reader.take(UInt8(ascii: "*")) { return reader.isAtEnd ? (first, last, nil) : nil }
        guard let total = number(&reader), last < total, reader.isAtEnd else { return nil }
        return (first, last, total)
    }

    /// 1*DIGIT, in 63 bits.
    private static func number(_ reader: inout FieldReader) -> Int64? {
        Int64(String(decoding: reader.take(while: \.isASCIIDigit), as: UTF8.self))
    }
}
