internal import COpenSSL

/// A date of a certificate, to the second, in UTC. Its text form is `2026-11-21 12:00:00Z`.
public struct CertificateDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The seconds since 1970 without leap seconds, as POSIX counts them.
    public let secondsSince1970: Int64

    /// Makes a date from its seconds since 1970, without leap seconds.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Reads a UTCTime or a GeneralizedTime in the form of RFC 5280 §4.1.2.5. Returns nil for any other value.
    init?(_ time: UnsafePointer<ASN1_TIME>?) {
        var parts = unsafe tm()
        guard let time = unsafe time, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        let days = unsafe Self.days(
            year: Int64(parts.tm_year) + 1900,
            month: Int64(parts.tm_mon) + 1,
            day: Int64(parts.tm_mday)
        )
        unsafe secondsSince1970 =
            days * 86_400 + Int64(parts.tm_hour) * 3_600 + Int64(parts.tm_min) * 60 + Int64(parts.tm_sec)
    }

    static var now: CertificateDate { CertificateDate(secondsSince1970: Int64(time(nil))) }

    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    public var description: String {
        let days = secondsSince1970 >= 0 ? secondsSince1970 / 86_400 : (secondsSince1970 - 86_399) / 86_400
        let rest = secondsSince1970 - days * 86_400
        let (year, month, day) = Self.date(days: days)
        let two = { (value: Int64) in value < 10 ? "0\(value)" : "\(value)" }
        return "\(year)-\(two(month))-\(two(day)) \(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day is
    /// the last day of a year.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
