/// Writes numbers, in the same way in every format.
enum NumberText {
    /// The shortest digits that read back as the same number. Integers have no fraction. Nil for a number that is not
    /// finite.
    static func of(_ number: Double) -> String? {
        guard number.isFinite else { return nil }
        // Up to 2^53 every integer is a double; beyond it, the form with an exponent is shorter. -0 keeps its sign.
        guard let whole = Int64(exactly: number), whole.magnitude <= 1 << 53, whole != 0 || number.sign == .plus else {
            return number.description
        }
        return String(whole)
    }
}
