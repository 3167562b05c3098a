import Testing

@testable import UncurlHTTP1

@Suite("Civil dates")
struct CivilDateTests {
    @Test(
        "a count of days and its date correspond, before and after 1970, at the ends of months and of leap years",
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (58, 1970, 2, 28), (59, 1970, 3, 1), (11_016, 2000, 2, 29),
            (19_782, 2024, 2, 29), (-719_528, 0, 1, 1), (-719_529, -1, 12, 31), (2_932_896, 9999, 12, 31),
        ]
    )
    func both(days: Int64, year: Int, month: Int, day: Int) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
        #expect(CivilDate(daysSince1970: days) == date)
    }

    @Test("each day of an era follows the one before it")
    func era() {
        var last = CivilDate(daysSince1970: -1)
        for days in Int64(0)..<146_097 {
            let date = CivilDate(daysSince1970: days)
            let months = (date.year - last.year) * 12 + date.month - last.month
            let follows = months == 0 ? date.day == last.day + 1 : months == 1 && date.day == 1
            guard follows, date.daysSince1970 == days else {
                Issue.record("\(date) after \(last)")
                return
            }
            last = date
        }
    }

    @Test(
        "a day that its month does not have is no date",
        arguments: [
            (2023, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 1, 0), (2026, 1, 32), (2026, 0, 1), (2026, 13, 1),
        ]
    )
    func none(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
