import UncurlHTTP1

/// Formats a point in time for people, without time zones.
enum UnixDate {
    /// `2026-11-21T19:47:28Z`.
    static func text(milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1_000
        let date = CivilDate(daysSince1970: Int64(seconds / 86_400))
        let second = Int(seconds % 86_400)
        let time = "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(date.year)-\(two(date.month))-\(two(date.day))T\(time)Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
