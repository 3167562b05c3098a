/// A line about a transfer that fits the terminal's width. Less important parts are omitted first.
struct ProgressLine {
    enum Phase: Hashable {
        case running
        case paused
        case completed
        case failed(String)
    }

    var label = ""
    var completed: Int64 = 0
    /// The total; nil where it is unknown.
    var total: Int64?
    /// In bytes per second.
    var rate: Double?
    /// In seconds.
    var remaining: Double?
    var phase = Phase.running
    /// The position of the moving mark that is shown while the total is unknown.
    var turn = 0

    var percent: Int? {
        guard let total, total > 0 else { return nil }
        // 100 only when the transfer is complete.
        return completed >= total ? 100 : min(99, Int(Double(max(0, completed)) / Double(total) * 100))
    }

    func text(width: Int) -> String {
        let name = label.isEmpty ? "" : label + "  "
        // The reason comes first: how much of a refused answer came says less.
        if case .failed(let words) = phase {
            let whole = name + words + "  " + amount
            return whole.count < width ? whole : String((name + words).prefix(max(0, width - 1)))
        }
        var facts: [String] = []
        if let percent { facts.append(Self.padded("\(percent)%", 4)) }
        var rest: [String] = [amount]
        switch phase {
        case .running:
            if let rate { rest.append(Self.bytes(rate) + "/s") }
            if let remaining { rest.append(Self.clock(remaining) + " left") }
        case .paused: rest.append("paused")
        case .completed: rest.append("done")
        case .failed: break
        }
        let without = name + (facts + rest).joined(separator: "  ")
        // A bar of less than ten columns says no more than the number.
        let room = min(40, width - without.count - 5)
        if room >= 10 {
            facts.append(bar(room))
            return name + (facts + rest).joined(separator: "  ")
        }
        var parts = facts + rest
        while parts.count > 1, (name + parts.joined(separator: "  ")).count >= width { parts.removeLast() }
        return String((name + parts.joined(separator: "  ")).prefix(max(0, width - 1)))
    }

    private func bar(_ width: Int) -> String {
        guard let total, total > 0 else {
            guard phase == .running else { return "[" + String(repeating: " ", count: width) + "]" }
            let place = turn % (width - 2)
            return "[" + String(repeating: " ", count: place) + "<=>" + String(repeating: " ", count: width - 3 - place)
                + "]"
        }
        let filled = Int(Double(width) * min(1, max(0, Double(completed) / Double(total))))
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
    }

    private var amount: String {
        guard let total else { return Self.bytes(Double(completed)) }
        return Self.bytes(Double(completed)) + " of " + Self.bytes(Double(total))
    }

    /// A number of bytes in units of 1,000 (IEC 80000-13), with about three digits.
    static func bytes(_ count: Double) -> String {
        var (value, unit) = (max(0, count), 0)
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        // A value that would be shown as 1000 belongs to the next unit.
        while value >= (unit == 0 ? 1_000 : 999.95), unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        if unit == 0 { return "\(Int(value)) B" }
        let tenths = Int(min(value * 10, 1e15).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A time in hours, minutes and seconds.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 360_000 else { return "days" }
        let all = Int(seconds.rounded(.up))
        let (minutes, rest) = ((all / 60) % 60, padded("\(all % 60)", 2, with: "0"))
        return all >= 3_600 ? "\(all / 3_600):\(padded("\(minutes)", 2, with: "0")):\(rest)" : "\(minutes):\(rest)"
    }

    private static func padded(_ text: String, _ width: Int, with filler: Character = " ") -> String {
        String(repeating: filler, count: max(0, width - text.count)) + text
    }
}
