internal import Synchronization
public import Uncurl
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlText

/// Shows on a terminal the progress of a task, or of a request with all its attempts: the amount, the total, the speed
/// and the time left. In a file or a pipe it writes a line at intervals instead.
///
/// ```swift
/// let bar = TerminalProgressBar("debian.iso")
/// bar.bind(to: task)
/// task.resume()
/// ```
///
/// It follows one task at a time, until that task has ended or another is bound. A task that has ended cannot be bound.
/// Every method may be called on any thread.
public final class TerminalProgressBar: Sendable {
    /// The content that the bar follows.
    public enum Direction: Hashable, Sendable {
        /// The content of the response.
        case download
        /// The content of the request.
        case upload
    }

    /// The progress of a transfer that is not a task.
    public struct Snapshot: Hashable, Sendable {
        /// The state of the transfer.
        public enum Phase: Hashable, Sendable {
            /// The transfer is under way or about to begin.
            case running
            /// The transfer is suspended.
            case paused
            /// The transfer succeeded.
            case completed
            /// The transfer failed, for a reason in words.
            case failed(String)
        }

        /// The bytes transferred so far.
        public var completed: Int64
        /// The total in bytes; nil where it is unknown.
        public var total: Int64?
        /// The state of the transfer.
        public var phase: Phase
        /// Whether the response has not begun. When it begins, the count may leap: a download that resumes counts what
        /// it had before.
        var isWaiting = false

        /// The progress of a transfer.
        public init(completed: Int64, total: Int64?, phase: Phase = .running) {
            self.completed = completed
            self.total = total
            self.phase = phase
        }
    }

    /// The interval between two updates: ten per second, which is faster than people read.
    public static let interval = Duration.milliseconds(100)
    /// The interval between lines in files and pipes while the total is unknown.
    public static let lineInterval = Duration.seconds(5)

    private let label: String
    private let output: TerminalOutput
    private let clock: any Clock<Duration>
    private let follower = Mutex<Task<Void, Never>?>(nil)

    /// A bar that follows no transfer yet.
    ///
    /// - Parameters:
    ///   - label: the text at the start of the line.
    ///   - output: where the lines are written.
    ///   - clock: measures the speed and the intervals.
    public init(
        _ label: String = "",
        output: TerminalOutput = .standardError,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.label = label.printable
        self.output = output
        self.clock = clock
    }

    deinit { follower.withLock { $0 }?.cancel() }

    /// Follows a task from now on, in place of an earlier one.
    ///
    /// - Returns: false for a task that has ended; the bar then does not change.
    @discardableResult
    public func bind(to task: URLSessionTask, _ direction: Direction = .download) -> Bool {
        guard task.state != .completed else { return false }
        // A manager's task says why its answer was refused. It releases its delegate at its end.
        let delegate = task.delegate as? TaskDelegate
        follow { TerminalProgressBar.look(at: task, delegate, direction) }
        return true
    }

    /// Follows a request from its first attempt to its last, in place of an earlier transfer. If an attempt starts
    /// over, the bar does not go back.
    ///
    /// - Returns: false for a request that has ended; the bar then does not change.
    @discardableResult
    public func bind(to transfer: TransferControl, _ direction: Direction = .download) -> Bool {
        guard transfer.state != .finished else { return false }
        follow { TerminalProgressBar.look(at: transfer, direction) }
        return true
    }

    /// Follows any source of snapshots, until a snapshot says that the transfer has ended.
    public func follow(_ source: @escaping @Sendable () -> Snapshot) {
        let (label, output, clock) = (label, output, clock)
        follower.withLock { follower in
            follower?.cancel()
            follower = Task {
                var painter = ProgressPainter(label: label, output: output, clock: clock)
                while !Task.isCancelled {
                    if painter.paint(source()) { return }
                    do { try await clock.sleep(for: TerminalProgressBar.interval) } catch { break }
                }
                painter.leave()
            }
        }
    }

    /// Stops following the transfer. The line stays as it is.
    public func unbind() {
        follower.withLock { $0.take() }?.cancel()
    }

    /// Returns when the transfer has ended and its last line is written.
    public func waitForEnd() async { await follower.withLock { $0 }?.value }

    private static func look(at transfer: TransferControl, _ direction: Direction) -> Snapshot {
        let isWaiting = isWaiting(for: transfer.task, direction)
        let progress = direction == .download ? transfer.downloadProgress : transfer.uploadProgress
        var snapshot = Snapshot(completed: progress.completed, total: progress.total)
        snapshot.isWaiting = isWaiting
        snapshot.phase =
            switch transfer.state {
            case .initialized, .suspended: .paused
            case .resumed: .running
            case .cancelled: .failed(UncurlError.cancelled.description)
            case .finished: transfer.error.map { .failed($0.localizedDescription) } ?? .completed
            }
        return snapshot
    }

    private static func look(at task: URLSessionTask, _ delegate: TaskDelegate?, _ direction: Direction) -> Snapshot {
        let isWaiting = isWaiting(for: task, direction)
        let (done, expected) =
            switch direction {
            case .download: (task.countOfBytesReceived, task.countOfBytesExpectedToReceive)
            case .upload: (task.countOfBytesSent, task.countOfBytesExpectedToSend)
            }
        var snapshot = Snapshot(completed: done, total: expected > 0 ? expected : nil)
        snapshot.isWaiting = isWaiting
        snapshot.phase =
            switch task.state {
            case .running, .canceling: .running
            case .suspended: .paused
            case .completed where delegate?.isTold == false: .running
            case .completed: (delegate?.error ?? task.error).map { .failed($0.localizedDescription) } ?? .completed
            }
        return snapshot
    }

    /// Asked before the counts: the response may begin meanwhile.
    private static func isWaiting(for task: URLSessionTask?, _ direction: Direction) -> Bool {
        direction == .download && task != nil && task?.response == nil
    }
}

extension String {
    /// The text without control characters (also those of ISO 6429's C1 set) and invisible characters: text from a
    /// server must not control the terminal.
    var printable: String {
        var kept = UnicodeScalarView()
        for scalar in unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0: continue
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }
}

/// The output of a ``TerminalProgressBar``.
public struct TerminalOutput: Sendable {
    /// Whether a line can be overwritten. In files and pipes only a few lines are written, each once.
    public let isTerminal: Bool
    /// The width in columns. Called before each line.
    public let width: @Sendable () -> Int
    /// Writes text. A progress bar makes one call at a time.
    public let write: @Sendable (String) -> Void

    /// Makes an output of closures, for a window or a test.
    public init(
        isTerminal: Bool,
        width: @escaping @Sendable () -> Int = { 80 },
        write: @escaping @Sendable (String) -> Void
    ) {
        self.isTerminal = isTerminal
        self.width = width
        self.write = write
    }

    /// Standard error. Standard output is for the program's result.
    public static let standardError = TerminalOutput(descriptor: STDERR_FILENO)
    /// Standard output.
    public static let standardOutput = TerminalOutput(descriptor: STDOUT_FILENO)

    private init(descriptor: CInt) {
        // A terminal of the type `dumb` cannot overwrite a line.
        let name = unsafe getenv("TERM").map { unsafe String(cString: $0) }
        self.init(isTerminal: isatty(descriptor) == 1 && name != "dumb") {
            var size = winsize()
            let isKnown = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            return isKnown ? Int(size.ws_col) : 80
        } write: { text in
            // A failure of the terminal cannot be reported anywhere.
            try? BlockingOutput.writeAll(text, to: descriptor)
        }
    }
}

extension TerminalProgressBar.Snapshot: CustomStringConvertible {
    public var description: String { described(Self.self, ["completed": completed, "total": total, "phase": phase]) }
}
