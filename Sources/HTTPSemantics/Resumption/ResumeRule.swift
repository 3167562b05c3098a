internal import HTTP1

/// Whether what a server answers is the rest of what is on disk (RFC 9110 §14, §15.3.7). Anything that leaves a doubt
/// starts over: a file of two halves is worse than a second transfer.
public enum ResumeRule {
    /// What is done with an answer.
    public enum Decision: Equatable {
        /// The rest, from this byte on.
        case append(total: Int64)
        /// All of it again, with this answer.
        case restart
        /// This answer is of no use: ask again, for the whole.
        case askAgain
    }

    /// - Parameters:
    ///   - status: of the response.
    ///   - contentRange: its field; nil without one.
    ///   - entityTag: its field; nil without one.
    ///   - lastModified: its field; nil without one.
    ///   - contentLength: of this response's content; -1 where it is not known.
    ///   - validator: the strong validator that was asked for.
    ///   - received: what is on disk.
    ///   - expected: the length of the whole as it was known; -1 if it was not.
    public static func decide(
        status: Int,
        contentRange: String?,
        entityTag: String?,
        lastModified: String?,
        contentLength: Int64,
        validator: String,
        received: Int64,
        expected: Int64
    ) -> Decision {
        switch status {
        case 206:
            guard let range = contentRange.flatMap(ContentRange.init), range.first == received else { return .askAgain }
            guard let total = range.total, expected < 0 || total == expected, range.last == total - 1 else {
                return .askAgain
            }
            guard contentLength < 0 || contentLength == total - received else { return .askAgain }
            // A server that has not looked at If-Range says itself what it sends.
            if validator.hasPrefix("\"") {
                if let entityTag, entityTag != validator { return .askAgain }
            } else if let lastModified, lastModified != validator {
                return .askAgain
            }
            return .append(total: total)
        case 416:
            // Fewer bytes than we have, by a server that did not look at If-Range: not our content.
            return .askAgain
        default:
            return .restart
        }
    }

    /// What to send as If-Range; nil where nothing tells the content apart for sure. A date counts only if it is a
    /// minute older than the answer: within the same second, content may have changed twice (RFC 9110 §8.8.2.2).
    ///
    /// - Parameters:
    ///   - entityTag: the response's field; nil without one.
    ///   - lastModified: the response's field; nil without one.
    ///   - date: when the answer was made, by its own word, in seconds since 1970.
    ///   - now: seconds since 1970, for dates with years of two digits.
    public static func validator(entityTag: String?, lastModified: String?, date: Int64?, now: Int64) -> String? {
        if let entityTag, entityTag.count >= 2, entityTag.hasPrefix("\""), entityTag.hasSuffix("\"") {
            return entityTag
        }
        guard let lastModified, let date,
            let changed = HTTPDate.parse(Array(lastModified.utf8).span, now: now)
        else { return nil }
        return date.subtractingReportingOverflow(changed).partialValue >= 60 ? lastModified : nil
    }
}

/// `bytes first-last/total` (RFC 9110 §14.4).
struct ContentRange: Equatable {
    let first: Int64
    let last: Int64
    /// Nil for `*`.
    let total: Int64?

    init?(_ text: String) {
        guard let rest = ContentRange.afterUnit(text) else { return nil }
        let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ContentRange.number(ends[0]), let last = ContentRange.number(ends[1]) else {
            return nil
        }
        guard first <= last else { return nil }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let number = ContentRange.number(halves[1]), last < number else { return nil }
            total = number
        }
        self.first = first
        self.last = last
    }

    private static func afterUnit(_ text: String) -> Substring? {
        let text = text.drop { $0 == " " || $0 == "\t" }
        guard text.prefix(6).lowercased() == "bytes " else { return nil }
        return text.dropFirst(6).drop { $0 == " " }
    }

    /// 1*DIGIT, in 63 bits.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return Int64(text)
    }
}
