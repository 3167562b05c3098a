/// The recent speed of a transfer, smoothed over single packets.
struct ProgressSpeed {
    /// After so long half of what was before counts no more.
    static let halfLife = 3.0

    private var last: (bytes: Int64, seconds: Double)?
    /// Bytes a second; nil before the second look.
    private(set) var value: Double?

    /// - Parameter seconds: since some beginning.
    mutating func note(_ bytes: Int64, at seconds: Double) {
        guard let last else {
            self.last = (bytes, seconds)
            return
        }
        let span = seconds - last.seconds
        guard span > 0 else { return }
        self.last = (bytes, seconds)
        let now = Double(max(0, bytes - last.bytes)) / span
        guard let value else {
            self.value = now
            return
        }
        let weight = ProgressSpeed.powerOfTwo(-span / ProgressSpeed.halfLife)
        self.value = value * weight + now * (1 - weight)
    }

    /// Seconds until so many bytes have moved; nil where there is no speed to tell by.
    func remaining(_ bytes: Int64) -> Double? {
        guard let value, value >= 1 else { return nil }
        return Double(max(0, bytes)) / value
    }

    private static func powerOfTwo(_ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        // 2^x on [0, 1) within 0.2 %: it only weighs.
        let part = exponent - whole
        let fraction = 1 + part * (0.6565 + part * 0.3435)
        return whole < -60 ? 0 : fraction * Double(sign: .plus, exponent: Int(whole), significand: 1)
    }
}
