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
