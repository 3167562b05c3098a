/// Writes numbers, in the same way for every format.
enum NumberText {
    /// The shortest digits that read back as the same number; whole numbers without a fraction. Nil for what is no
    /// number.
    static func of(_ number: Double) -> String? {
        guard number.isFinite else { return nil }
        // Up to 2^53 every whole number is a double; beyond, the exponent's form is the shorter one. -0 keeps its
        // sign.
        guard let whole = Int64(exactly: number), whole.magnitude <= 1 << 53, whole != 0 || number.sign == .plus else {
            return number.description
        }
        return String(whole)
    }
}
