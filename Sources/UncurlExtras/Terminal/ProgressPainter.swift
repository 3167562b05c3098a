/// Writes the lines of one transfer, from its first snapshot to its last.
struct ProgressPainter {
    private let output: TerminalOutput
    private let watch: Stopwatch
    private var line: ProgressLine
    private var rate = ProgressSpeed()
    /// Whether the terminal shows a line without a line end.
    private var isOpen = false
    /// The last tenth that was written to a file or a pipe.
    private var tenth: Int?
    private var lastWritten: Duration?

    init(label: String, output: TerminalOutput, clock: any Clock<Duration>) {
        self.output = output
        watch = Stopwatch(clock)
        line = ProgressLine(label: label)
    }

    /// - Returns: whether this was the last line.
    mutating func paint(_ snapshot: TerminalProgressBar.Snapshot) -> Bool {
        let now = watch.elapsed
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
        line.phase =
            switch snapshot.phase {
            case .running: .running
            case .paused: .paused
            case .completed: .completed
            case .failed(let words): .failed(words.printable)
            }
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

/// Measures the time since its creation, with any clock.
struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) { read = Self.reader(clock) }

    var elapsed: Duration { read() }

    private static func reader<Source: Clock<Duration>>(_ clock: Source) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
