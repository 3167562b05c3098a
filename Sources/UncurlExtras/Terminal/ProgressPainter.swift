/// Writes the lines of one transfer, from its first snapshot to its last.
struct ProgressPainter {
    private let output: TerminalOutput
    /// The time since the painter was made.
    private let elapsed: @Sendable () -> Duration
    private var line: ProgressLine
    private var rate = ProgressSpeed()
    /// Whether the terminal shows a line without a line end.
    private var isOpen = false
    /// The last tenth that was written to a file or a pipe.
    private var tenth: Int?
    private var lastWritten: Duration?

    init(label: String, output: TerminalOutput, clock: any Clock<Duration>) {
        self.output = output
        elapsed = Self.stopwatch(clock)
        line = ProgressLine(label: label)
    }

    private static func stopwatch<Source: Clock<Duration>>(_ clock: Source) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// - Returns: whether this was the last line.
    mutating func paint(_ snapshot: TerminalProgressBar.Snapshot) -> Bool {
        let now = elapsed()
        // Negative numbers count as zero.
        line.completed = max(0, snapshot.completed)
        line.total = snapshot.total.map { max(0, $0) }
        line.turn += 1
        if snapshot.phase == .paused || snapshot.isWaiting {
            // Neither a pause nor what was there before the response counts for the speed.
            rate = ProgressSpeed()
        } else {
            rate.note(line.completed, at: now / .seconds(1))
        }
        line.rate = rate.value
        line.remaining = line.total.flatMap { rate.remaining($0 - line.completed) }
        line.phase = if case .failed(let words) = snapshot.phase { .failed(words.printable) } else { snapshot.phase }
        let isLast = line.phase != .running && line.phase != .paused
        if output.isTerminal { overwrite(isLast) } else { append(isLast, now) }
        return isLast
    }

    /// Ends the line although the transfer has not ended.
    mutating func leave() {
        if isOpen { output.write("\n") }
        isOpen = false
    }

    private mutating func overwrite(_ isLast: Bool) {
        // Moves to the start of the line, and after the text erases the rest of an older, longer line (ECMA-48, EL).
        output.write("\r" + line.text(width: output.width()) + "\u{1B}[K" + (isLast ? "\n" : ""))
        isOpen = !isLast
    }

    /// Writes a line at the start, at each tenth or after an interval, and at the end.
    private mutating func append(_ isLast: Bool, _ now: Duration) {
        let current = line.percent.map { $0 / 10 }
        let isDue =
            switch (current, tenth, lastWritten) {
            case (_, _, nil): true
            case (let current?, let tenth?, _): current > tenth
            case (.some, nil, _): true
            case (nil, _, let last?): now - last >= TerminalProgressBar.lineInterval
            }
        guard isDue || isLast else { return }
        (tenth, lastWritten) = (current, now)
        output.write(line.text(width: output.width()) + "\n")
    }
}

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

/// A line about a transfer that fits the terminal's width. Less important parts are omitted first.
struct ProgressLine {
    var label = ""
    var completed: Int64 = 0
    /// The total; nil where it is unknown.
    var total: Int64?
    /// In bytes per second.
    var rate: Double?
    /// In seconds.
    var remaining: Double?
    var phase = TerminalProgressBar.Snapshot.Phase.running
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
