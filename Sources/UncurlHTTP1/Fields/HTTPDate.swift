/// Dates as HTTP writes them (RFC 9110 §5.6.7), as whole seconds since 1970-01-01 00:00:00 UTC.
public enum HTTPDate {
    /// Appends IMF-fixdate, the one form a sender may write: `Sun, 06 Nov 1994 08:49:37 GMT`. Years outside 0 to 9999
    /// are clamped to that range: the form has four digits.
    public static func append(_ seconds: Int64, to buffer: inout [UInt8]) {
        let clamped = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let days = (clamped >= 0 ? clamped : clamped - 86_399) / 86_400
        let time = Int(clamped - days * 86_400)
        let date = CivilDate(daysSince1970: days)
        // 1970-01-01 was a Thursday.
        let weekday = Int(((days + 4) % 7 + 7) % 7)
        buffer.append(contentsOf: weekdays[weekday].utf8.prefix(3))
        buffer.append(contentsOf: ", ".utf8)
        appendTwo(date.day, &buffer)
        buffer.append(ASCII.space)
        buffer.append(contentsOf: months[date.month - 1].utf8)
        buffer.append(ASCII.space)
        appendTwo(date.year / 100, &buffer)
        appendTwo(date.year % 100, &buffer)
        buffer.append(ASCII.space)
        appendTwo(time / 3600, &buffer)
        buffer.append(ASCII.colon)
        appendTwo(time / 60 % 60, &buffer)
        buffer.append(ASCII.colon)
        appendTwo(time % 60, &buffer)
        buffer.append(contentsOf: " GMT".utf8)
    }

    /// Reads any of the three forms a recipient must take: IMF-fixdate, RFC 850 and asctime. `now` decides the century
    /// of RFC 850's two-digit year: a date more than 50 years ahead is in the past. nil for anything else. The day's
    /// name is checked for its form only.
    public static func parse(_ text: Span<UInt8>, now: Int64) -> Int64? {
        // The longest, "Wednesday, 06-Nov-94 08:49:37 GMT", has 33 octets.
        guard text.count <= 33 else { return nil }
        var reader = HTTPDateReader(octets: copy(text))
        return reader.read(now: now)
    }

    static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    package static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func appendTwo(_ number: Int, _ buffer: inout [UInt8]) {
        buffer.append(ASCII.zero + UInt8(truncatingIfNeeded: number / 10))
        buffer.append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }
}
