internal import UncurlHTTP1

/// Dates in cookies, which servers write in many forms: tokens in any order, as RFC 6265bis §5.1.1 reads them.
extension Cookie {
    /// Returns a cookie's date in seconds since 1970; nil for text that is no date.
    public static func date(_ text: String) -> Double? {
        var time: Time?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            // Each part is taken once; a later token of its form may be one of the other parts.
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year, time.hours < 24, time.minutes < 60, time.seconds < 60 else {
            return nil
        }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, let date = CivilDate(year: year, month: month, day: day) else { return nil }
        return Double(date.daysSince1970 * 86_400 + Int64(time.hours * 3600 + time.minutes * 60 + time.seconds))
    }

    /// delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The first token in the form of a time is the time, even if it is none of a day.
    private typealias Time = (hours: Int, minutes: Int, seconds: Int)

    /// time = hms-time [ non-digit *OCTET ], each field of one or two digits.
    private static func time(_ token: Substring.UTF8View) -> Time? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2, let hours = number(fields[0], 1...2),
            let minutes = number(fields[1], 1...2), let seconds = number(fields[2], 1...2),
            isAllDigits(fields[0]), isAllDigits(fields[1])
        else { return nil }
        return (hours, minutes, seconds)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Returns the month of the first three letters; the rest may be anything.
    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3).map(\.lowercasedASCII)
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
    }

    /// Returns a number of so many digits that no digit follows.
    private static func number(_ token: Substring.UTF8View, _ count: ClosedRange<Int>) -> Int? {
        let digits = token.prefix { $0 &- 0x30 < 10 }
        guard count.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }

    private static func isAllDigits(_ text: Substring.UTF8View) -> Bool { text.allSatisfy { $0 &- 0x30 < 10 } }
}
