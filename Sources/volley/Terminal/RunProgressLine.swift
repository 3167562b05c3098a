internal import CUncurlLinux
internal import Glibc
import UncurlLoad
import UncurlReactor

/// The line that is redrawn during a run. If standard error is not a terminal, there is none.
struct RunProgressLine {
    private let descriptor: CInt
    let isShown: Bool
    private var rate = 0.0
    /// When the counts of the warm-up last grew, and their number then.
    private var grown: (time: UInt64, completed: UInt64) = (0, 0)
    private var isDrawn = false

    init(descriptor: CInt = STDERR_FILENO, wanted: Bool, terminal: Bool? = nil) {
        self.descriptor = descriptor
        isShown = wanted && (terminal ?? Self.isTerminal(descriptor))
    }

    /// Redraws the line in place. `elapsed` is the time since the start of the run, in nanoseconds.
    mutating func draw(_ snapshot: RunSnapshot, _ series: IntervalSeries, elapsed: UInt64, of plan: RunPlan) {
        guard isShown else { return }
        let line = next(snapshot, series, elapsed: elapsed, of: plan)
        // Without automatic wrap, a narrow terminal cuts the line off and does not scroll.
        try? BlockingOutput.writeAll("\r\u{1B}[?7l\(line)\u{1B}[K\u{1B}[?7h", to: descriptor)
        isDrawn = true
    }

    /// The text of the line. Its rate is that of the last complete interval, as in the plots. A warm-up has no
    /// intervals, so its rate is the one since its counts last grew.
    mutating func next(_ snapshot: RunSnapshot, _ series: IntervalSeries, elapsed: UInt64, of plan: RunPlan) -> String {
        if elapsed >= plan.options.warmup {
            rate = series.points.last?.perSecond ?? rate
        } else {
            follow(snapshot.completed, at: elapsed)
        }
        let columns = Self.size(of: descriptor).columns
        return Self.text(snapshot, elapsed: elapsed, rate: rate, plan, columns: columns)
    }

    private mutating func follow(_ completed: UInt64, at elapsed: UInt64) {
        // Another run has begun.
        if elapsed < grown.time || completed < grown.completed { grown = (0, 0) }
        guard completed > grown.completed, elapsed > grown.time else { return }
        rate = Double(completed - grown.completed) * 1e9 / Double(elapsed - grown.time)
        grown = (elapsed, completed)
    }

    /// Erases the line, so that the report starts on a clean line.
    mutating func clear() {
        guard isDrawn else { return }
        try? BlockingOutput.writeAll("\r\u{1B}[K", to: descriptor)
        isDrawn = false
    }

    /// - Parameter columns: the width. The most important details that fit are shown.
    static func text(
        _ snapshot: RunSnapshot,
        elapsed: UInt64,
        rate: Double,
        _ plan: RunPlan,
        columns: Int = .max
    ) -> String {
        let lines = (0..<4).map { parts($0, snapshot, elapsed, rate, plan).joined(separator: " · ") }
        let fitting = lines.first { $0.count <= columns }
        return fitting ?? String((lines.last ?? "").prefix(columns))
    }

    /// - Parameter brevity: 0 for all parts, 1 with one time, 2 in short, 3 for the least.
    private static func parts(
        _ brevity: Int,
        _ snapshot: RunSnapshot,
        _ elapsed: UInt64,
        _ rate: Double,
        _ plan: RunPlan
    ) -> [String] {
        let isLong = brevity <= 1
        let seconds = fixed(Double(elapsed) / 1e9, 0)
        var parts = ["\(seconds) s"]
        if isLong, let duration = plan.options.duration {
            parts = ["\(seconds) s of \(Units.time(duration &+ plan.options.warmup))"]
        } else if isLong, let requests = plan.options.requests {
            parts.append("\(grouped(snapshot.completed)) of \(grouped(requests))")
        }
        if elapsed < plan.options.warmup { parts.append("warming up") }
        let unit =
            switch plan.options.work {
            case .requests: "requests/s"
            case .handshakes: "connections/s"
            }
        parts.append(grouped(UInt64(max(rate, 0))) + (brevity == 0 ? " \(unit)" : "/s"))
        if let p50 = snapshot.p50, let p99 = snapshot.p99 {
            switch brevity {
            case 0: parts.append("p50 \(Units.time(p50)), p99 \(Units.time(p99))")
            case 1, 2: parts.append("p99 \(Units.time(p99))")
            default: break
            }
        }
        parts.append("\(grouped(snapshot.errors)) errors")
        if brevity < 3 { parts += snapshot.remarks.map { "\(grouped($0.value)) \($0.key)" }.sorted() }
        return parts
    }
}

/// Properties of a terminal.
extension RunProgressLine {
    private static func isTerminal(_ descriptor: CInt) -> Bool {
        guard isatty(descriptor) == 1 else { return false }
        guard let name = unsafe getenv("TERM") else { return false }
        return unsafe String(cString: name) != "dumb"
    }

    /// The size; 80 by 24 where the terminal does not report it.
    static func size(of descriptor: CInt) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
