/// Dates as HTTP writes them (RFC 9110 §5.6.7), as whole seconds since 1970-01-01 00:00:00 UTC.
public struct HTTPDate {
    private let octets: [UInt8]
    private var position = 0

    private init(octets: [UInt8]) { self.octets = octets }

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
        var reader = HTTPDate(octets: copy(text))
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

/// Reads a date from left to right. Every function takes its part or returns nil. Names may come in any case: a
/// cache has to take them so (RFC 9111 §4.2), though a sender may not write them (RFC 9110 §5.6.7).
extension HTTPDate {

    private mutating func read(now: Int64) -> Int64? {
        guard
            let length = Self.weekdays.first(where: { take($0) })?.utf8.count
                ?? Self.weekdays.first(where: { take(String($0.prefix(3))) }).map({ _ in 3 })
        else { return nil }
        if length > 3 { return readObsolete(now) }
        return take(", ") ? readFixed() : readAsctime()
    }

    /// IMF-fixdate behind its comma: `06 Nov 1994 08:49:37 GMT`
    private mutating func readFixed() -> Int64? {
        guard let day = number(2), take(" "), let month = month(), take(" "), let year = number(4), take(" "),
            let time = time(), take(" GMT")
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// rfc850-date behind the day's name: `, 06-Nov-94 08:49:37 GMT`
    private mutating func readObsolete(_ now: Int64) -> Int64? {
        guard take(", "), let day = number(2), take("-"), let month = month(), take("-"), let short = number(2),
            take(" "), let time = time(), take(" GMT")
        else { return nil }
        let present = CivilDate(daysSince1970: min(max(now, 0), 253_402_300_799) / 86_400).year
        var year = present / 100 * 100 + short
        if year > present + 50 { year -= 100 }
        return seconds(year, month, day, time)
    }

    /// asctime-date behind the day's name: ` Nov  6 08:49:37 1994`
    private mutating func readAsctime() -> Int64? {
        guard take(" "), let month = month(), take(" "), let day = take(" ") ? number(1) : number(2), take(" "),
            let time = time(), take(" "), let year = number(4)
        else { return nil }
        return seconds(year, month, day, time)
    }

    private func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int64? {
        guard position == octets.count, let date = CivilDate(year: year, month: month, day: day) else { return nil }
        return date.daysSince1970 * 86_400 + Int64(time)
    }

    private mutating func month() -> Int? {
        Self.months.firstIndex { take($0) }.map { $0 + 1 }
    }

    /// Seconds in the day. 60 is a leap second.
    private mutating func time() -> Int? {
        guard let hours = number(2), take(":"), let minutes = number(2), take(":"), let seconds = number(2),
            hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        return hours * 3600 + minutes * 60 + seconds
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard position + digits <= octets.count else { return nil }
        var value = 0
        for index in position..<(position + digits) {
            guard ASCII.isDigit(octets[index]) else { return nil }
            value = value * 10 + Int(octets[index] - ASCII.zero)
        }
        position += digits
        return value
    }

    private mutating func take(_ text: String) -> Bool {
        let length = text.utf8.count
        guard octets.count - position >= length,
            zip(octets[position...], text.utf8).allSatisfy({ ASCII.lowercased($0) == ASCII.lowercased($1) })
        else { return false }
        position += length
        return true
    }
}

/// A day of the Gregorian calendar, which is also used for the time before it was introduced.
///
/// Inside, years begin in March: the leap day is then the last day of its year. They form eras of 400 years, which have
/// 146,097 days each.
package struct CivilDate: Equatable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// The date this many days after 1970-01-01.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        month = Int(part < 10 ? part + 3 : part - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        day = Int(dayOfYear - (153 * part + 2) / 5 + 1)
    }

    /// Nil for a day that the calendar does not have, such as February 30.
    package init?(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        // A day that the month does not have is computed as a day of another month.
        guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
    }

    package var daysSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
