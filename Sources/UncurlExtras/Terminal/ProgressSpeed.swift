/// The recent speed of a transfer, smoothed.
struct ProgressSpeed {
    /// The time in seconds after which older measurements count half.
    static let halfLife = 3.0

    private var last: (bytes: Int64, seconds: Double)?
    /// In bytes per second; nil before the second measurement.
    private(set) var value: Double?

    /// - Parameter seconds: the time since a fixed start.
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

    /// The seconds until this many bytes have moved; nil while the speed is unknown or below one byte per second.
    func remaining(_ bytes: Int64) -> Double? {
        guard let value, value >= 1 else { return nil }
        return Double(max(0, bytes)) / value
    }

    private static func powerOfTwo(_ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        // An approximation of 2^x on [0, 1) within 0.2 %, which suffices for a weight.
        let part = exponent - whole
        let fraction = 1 + part * (0.6565 + part * 0.3435)
        return whole < -60 ? 0 : fraction * Double(sign: .plus, exponent: Int(whole), significand: 1)
    }
}
