import LoadGenerator

/// Formats a point in time for people, without time zones.
enum UnixDate {
    /// `2026-11-21T19:47:28Z`.
    static func text(milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1_000
        let (year, month, day) = civil(days: Int(seconds / 86_400))
        let second = Int(seconds % 86_400)
        return "\(year)-\(two(month))-\(two(day))T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The Gregorian date this many days after 1970-01-01. Years begin in March here, so that the leap day is the last
    /// of the year, and form cycles of 400 years with 146,097 days.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let cycle = shifted / 146_097
        let dayOfCycle = shifted % 146_097
        let year = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (cycle * 400 + year + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }
}
