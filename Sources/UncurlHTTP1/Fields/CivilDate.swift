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
