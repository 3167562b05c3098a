internal import CLinux
internal import Glibc
import Reactor

/// The one line that is redrawn while a run goes on; nothing at all where standard error is no terminal.
struct ProgressLine {
    private let descriptor: CInt
    let isShown: Bool
    private var previous: (time: UInt64, completed: UInt64) = (0, 0)
    private var isDrawn = false

    init(descriptor: CInt = STDERR_FILENO, wanted: Bool, terminal: Bool? = nil) {
        self.descriptor = descriptor
        isShown = wanted && (terminal ?? Self.isTerminal(descriptor))
    }

    /// Redraws the line in place; `elapsed` counts from the start of the run, in nanoseconds.
    mutating func draw(_ snapshot: RunSnapshot, elapsed: UInt64, of plan: RunPlan) {
        guard isShown else { return }
        let line = next(snapshot, elapsed: elapsed, of: plan)
        // Without automatic wrap a narrow terminal cuts the line off instead of scrolling it.
        try? BlockingOutput.writeAll("\r\u{1B}[?7l\(line)\u{1B}[K\u{1B}[?7h", to: descriptor)
        isDrawn = true
    }

    /// The line's text; the rate in it is that since the last one.
    mutating func next(_ snapshot: RunSnapshot, elapsed: UInt64, of plan: RunPlan) -> String {
        // Another run has begun.
        if elapsed < previous.time { previous = (0, 0) }
        let span = Double(elapsed &- previous.time) / 1e9
        // A warm-up's end sets the counts back: the first second after it has no rate.
        let done = snapshot.completed >= previous.completed ? snapshot.completed - previous.completed : 0
        previous = (elapsed, snapshot.completed)
        return Self.text(snapshot, elapsed: elapsed, rate: span > 0 ? Double(done) / span : 0, plan)
    }

    /// Takes the line away, so that the report starts on a clean one.
    mutating func clear() {
        guard isDrawn else { return }
        try? BlockingOutput.writeAll("\r\u{1B}[K", to: descriptor)
        isDrawn = false
    }

    static func text(_ snapshot: RunSnapshot, elapsed: UInt64, rate: Double, _ plan: RunPlan) -> String {
        let seconds = fixed(Double(elapsed) / 1e9, 0)
        var parts: [String]
        switch (plan.duration, plan.requests) {
        case (let duration?, _): parts = ["\(seconds) s of \(Units.time(duration &+ plan.warmup))"]
        case (nil, let requests?): parts = ["\(seconds) s", "\(grouped(snapshot.completed)) of \(grouped(requests))"]
        case (nil, nil): parts = ["\(seconds) s"]
        }
        if elapsed < plan.warmup { parts.append("warming up") }
        let unit =
            switch plan.work {
            case .requests: "requests/s"
            case .handshakes: "connections/s"
            }
        parts.append("\(grouped(UInt64(max(rate, 0)))) \(unit)")
        if let p50 = snapshot.p50, let p99 = snapshot.p99 {
            parts.append("p50 \(Units.time(p50)), p99 \(Units.time(p99))")
        }
        parts.append("\(grouped(snapshot.errors)) errors")
        if snapshot.sentAgain > 0 { parts.append("\(grouped(snapshot.sentAgain)) sent again") }
        return parts.joined(separator: " · ")
    }

    private static func isTerminal(_ descriptor: CInt) -> Bool {
        guard isatty(descriptor) == 1 else { return false }
        guard let name = unsafe getenv("TERM") else { return false }
        return unsafe String(cString: name) != "dumb"
    }
}
