internal import Synchronization
public import Uncurl

/// Shows the progress of a task, or of a request with all its attempts, on a terminal: the amount, the total, the speed
/// and the time left. In a file or a pipe it writes a line at intervals instead.
///
/// ```swift
/// let bar = TerminalProgressBar("debian.iso")
/// bar.bind(to: task)
/// task.resume()
/// ```
///
/// It follows one task at a time, until the task has ended or another is bound. A task that has ended cannot be bound.
/// Every method may be called on any thread.
public final class TerminalProgressBar: Sendable {
    /// Which body is followed.
    public enum Direction: Hashable, Sendable {
        /// The content of the response.
        case download
        /// The content of the request.
        case upload
    }

    /// The progress of anything that is no task.
    public struct Snapshot: Hashable, Sendable {
        /// Whether the transfer goes on.
        public enum Phase: Hashable, Sendable {
            /// Bytes move, or are about to.
            case running
            /// The transfer is suspended.
            case paused
            /// The transfer ended well.
            case completed
            /// With the reason in words.
            case failed(String)
        }

        /// In bytes.
        public var completed: Int64
        /// Nil where it is not known.
        public var total: Int64?
        /// Whether the transfer goes on.
        public var phase: Phase

        /// How far the transfer is.
        public init(completed: Int64, total: Int64?, phase: Phase = .running) {
            self.completed = completed
            self.total = total
            self.phase = phase
        }
    }

    /// Ten times a second: faster than people read.
    public static let interval = Duration.milliseconds(100)
    /// How often files and pipes get a line while the length is not known.
    public static let lineInterval = Duration.seconds(5)

    private struct State {
        var number: UInt64 = 0
        var follower: Task<Void, Never>?
    }

    private let label: String
    private let output: TerminalOutput
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// A bar that follows nothing yet.
    ///
    /// - Parameters:
    ///   - label: stands at the line's beginning.
    ///   - output: where lines are written.
    ///   - clock: measures the speed and the pauses between two lines.
    public init(
        _ label: String = "",
        output: TerminalOutput = .standardError,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.label = label.printable
        self.output = output
        self.clock = clock
    }

    deinit { state.withLock { $0.follower }?.cancel() }

    /// Follows a task from here on, in place of what was followed before.
    ///
    /// - Returns: false for a task that has ended, which changes nothing.
    @discardableResult
    public func bind(to task: URLSessionTask, _ direction: Direction = .download) -> Bool {
        guard task.state != .completed else { return false }
        follow { TerminalProgressBar.look(at: task, direction) }
        return true
    }

    /// Follows a request from its first attempt to its last, in place of what was followed before: the bar goes on
    /// where an attempt begins anew, and never back.
    ///
    /// - Returns: false for a request that has ended, which changes nothing.
    @discardableResult
    public func bind(to transfer: TransferControl, _ direction: Direction = .download) -> Bool {
        guard transfer.state != .finished else { return false }
        follow { TerminalProgressBar.look(at: transfer, direction) }
        return true
    }

    /// Follows any source of snapshots until a snapshot has ended.
    public func follow(_ source: @escaping @Sendable () -> Snapshot) {
        let (label, output, clock) = (label, output, clock)
        state.withLock { state in
            state.follower?.cancel()
            state.follower = Task {
                var painter = ProgressPainter(label: label, output: output, clock: clock)
                while !Task.isCancelled {
                    if painter.paint(source()) { return }
                    do { try await clock.sleep(for: TerminalProgressBar.interval) } catch { break }
                }
                painter.leave()
            }
        }
    }

    /// Stops following. The line stays as it is.
    public func unbind() {
        state.withLock { state in
            state.follower?.cancel()
            state.follower = nil
        }
    }

    /// Returns when what is followed has ended and its last line is written.
    public func waitForEnd() async { await state.withLock { $0.follower }?.value }

    private static func look(at transfer: TransferControl, _ direction: Direction) -> Snapshot {
        let progress = direction == .download ? transfer.downloadProgress : transfer.uploadProgress
        let phase: Snapshot.Phase =
            switch transfer.state {
            case .initialized, .suspended: .paused
            case .resumed: .running
            case .cancelled: .failed(UncurlError.cancelled.description)
            case .finished: transfer.error.map { .failed($0.localizedDescription) } ?? .completed
            }
        return Snapshot(completed: progress.completed, total: progress.total, phase: phase)
    }

    private static func look(at task: URLSessionTask, _ direction: Direction) -> Snapshot {
        let (done, expected) =
            switch direction {
            case .download: (task.countOfBytesReceived, task.countOfBytesExpectedToReceive)
            case .upload: (task.countOfBytesSent, task.countOfBytesExpectedToSend)
            }
        let phase: Snapshot.Phase =
            switch task.state {
            case .running, .canceling: .running
            case .suspended: .paused
            case .completed: task.error.map { .failed($0.localizedDescription) } ?? .completed
            }
        return Snapshot(completed: done, total: expected > 0 ? expected : nil, phase: phase)
    }
}
