import UncurlLoad

extension Pause {
    /// Reads `100ms`, `50ms-150ms` or `exp:100ms`.
    init(_ text: String, for flag: String) throws(UsageError) {
        if text.begins(with: "exp:") {
            self = .exponential(try Quantity.time(String(text.dropFirst(4)), for: flag, allowingZero: true))
            return
        }
        let ends = text.parts(at: "-", most: 2).map(String.init)
        let low = try Quantity.time(ends[0], for: flag, allowingZero: true)
        guard ends.count == 2 else {
            self = .fixed(low)
            return
        }
        let high = try Quantity.time(ends[1], for: flag, allowingZero: true)
        guard low <= high else { throw UsageError("\(flag) \(quoted(text)) ends before it begins: put the less first") }
        self = .uniform(low, high)
    }
}
