import UncurlHTTP1
import UncurlLoad

/// Parses times as logs and archives write them, in nanoseconds since 1970.
enum Timestamp {
    private static let second: Int64 = 1_000_000_000
    /// More octets than a time has. The characters of a longer text may be long too, and take long to compare.
    private static let longest = 64

    /// `10/Oct/2026:13:55:36 +0200`.
    static func accessLog(_ text: Substring) -> Int64? {
        guard text.utf8.count <= longest else { return nil }
        let halves = text.split(separator: " ")
        let parts = halves.first?.split(whereSeparator: { $0 == "/" || $0 == ":" }) ?? []
        guard halves.count == 2, parts.count == 6, let month = HTTPDate.months.firstIndex(of: String(parts[1])) else {
            return nil
        }
        let numbers = [parts[0], parts[2], parts[3], parts[4], parts[5]].compactMap { Int64($0) }
        guard numbers.count == 5, let zone = zone(halves[1]) else { return nil }
        return time(numbers[1], Int64(month) + 1, numbers[0], numbers[2], numbers[3], numbers[4], zone)
    }

    /// `2026-04-16T12:07:23.596Z`, `…+02:00`.
    static func iso8601(_ text: String) -> Int64? {
        guard text.utf8.count <= longest else { return nil }
        let halves = text.split(separator: "T")
        guard halves.count == 2 else { return nil }
        let date = halves[0].split(separator: "-").compactMap { Int64($0) }
        let clock = halves[1].prefix { $0.isNumber || $0 == ":" || $0 == "." }
        guard let zone = zone(halves[1].dropFirst(clock.count)) else { return nil }
        let parts = clock.split(separator: ":")
        guard date.count == 3, parts.count == 3, let hour = Int64(parts[0]), let minute = Int64(parts[1]) else {
            return nil
        }
        let pieces = parts[2].split(separator: ".")
        guard let whole = pieces.first.flatMap({ Int64($0) }), pieces.count <= 2 else { return nil }
        var fraction: Int64 = 0
        if pieces.count == 2 {
            let digits = pieces[1].prefix(9)
            guard let value = Int64(digits) else { return nil }
            fraction = (digits.count..<9).reduce(value) { value, _ in value * 10 }
        }
        return time(date[0], date[1], date[2], hour, minute, whole, zone).map { $0 + fraction }
    }

    /// The offset in seconds east of Greenwich: `Z`, `+0200`, `+02:00`.
    private static func zone(_ text: Substring) -> Int64? {
        if text == "Z" { return 0 }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let sign = text.first, sign == "+" || sign == "-", digits.count == 4, let number = Int64(digits) else {
            return nil
        }
        return (number / 100 * 3_600 + number % 100 * 60) * (sign == "-" ? -1 : 1)
    }

    private static func time(
        _ year: Int64,
        _ month: Int64,
        _ day: Int64,
        _ hour: Int64,
        _ minute: Int64,
        _ seconds: Int64,
        _ zone: Int64
    ) -> Int64? {
        guard (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(seconds),
            let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
        else { return nil }
        return (date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + seconds - zone) * second
    }

    /// Spreads the requests of each second evenly over the second, because logs have whole seconds. Otherwise the start
    /// of each second would have a burst that never happened.
    static func spread(_ times: [Int64?]) -> [Int64?] {
        var counts: [Int64: Int64] = [:]
        for case let time? in times { counts[time, default: 0] += 1 }
        var seen: [Int64: Int64] = [:]
        return times.map { time in
            guard let time, let count = counts[time] else { return nil }
            defer { seen[time, default: 0] += 1 }
            return time + second / count * (seen[time] ?? 0)
        }
    }

    /// Sorts drafts by their times, because logs are written when requests end, and sets their offsets from the first
    /// one. If one has no time, all lose their offsets.
    static func setOffsets(_ drafts: inout [RequestDraft], _ times: [Int64?]) {
        let known = times.compactMap { $0 }
        guard known.count == drafts.count, let first = known.min() else { return }
        let order = drafts.indices.sorted { (known[$0], $0) < (known[$1], $1) }
        drafts = order.map { index in
            var draft = drafts[index]
            draft.offset = UInt64(known[index] - first)
            return draft
        }
    }
}
