internal import Synchronization

/// A clock that stands still until the test advances it. Retries, throttles, delays and time limits are tested without
/// waiting, and with the same result each time.
///
/// ```swift
/// let clock = TestClock()
/// let work = Task { try await clock.sleep(for: .seconds(60)) }
/// await clock.waitForSleepers()
/// clock.advance(by: .seconds(60))
/// try await work.value
/// ```
///
/// Advancing the clock wakes the sleepers whose deadline has come, in the order of their deadlines. They then run
/// concurrently with the test. ``waitForSleepers(_:)`` waits until they sleep again; ``runToNextDeadline()`` waits and
/// advances.
public final class TestClock: Clock, Sendable {
    /// A point in time, counted from the creation of the clock.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the creation of the clock.
        public let offset: Duration

        /// An instant this long after the clock was made.
        public init(offset: Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        public var description: String { "\(offset)" }
    }

    private typealias Sleeper = (number: UInt64, deadline: Instant, continuation: CheckedContinuation<Void, any Error>)
    private typealias Waiter = (number: UInt64, count: Int, continuation: CheckedContinuation<Void, Never>)

    private struct State {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var waiters: [Waiter] = []
        /// Sleepers that were cancelled before they slept.
        var cancelled: Set<UInt64> = []
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last += 1
            return last
        }
    }

    private let state = Mutex(State())

    /// A clock at time zero.
    public init() {}

    public var now: Instant { state.withLock { $0.now } }

    public var minimumResolution: Duration { .zero }

    /// The number of sleepers.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The earliest deadline of all sleepers; nil where there are none.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.map(\.deadline).min() } }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { $0.number() }
        defer { state.withLock { state in _ = state.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            try await withCheckedThrowingContinuation { continuation in
                let (end, ready) = state.withLock { state -> (Result<Void, any Error>?, [Waiter]) in
                    if state.cancelled.remove(number) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers.append((number, deadline, continuation))
                    let ready = state.waiters.filter { $0.count <= state.sleepers.count }
                    state.waiters.removeAll { $0.count <= state.sleepers.count }
                    return (nil, ready)
                }
                for waiter in ready { waiter.continuation.resume() }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time, and wakes the sleepers whose deadline has come, the earliest first.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Advances the time to an instant. An instant in the past has no effect.
    public func advance(to instant: Instant) {
        let due = state.withLock { state -> [Sleeper] in
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits for a sleeper, then advances the time to the next deadline. In a cancelled Swift task it returns at once,
    /// even if nothing sleeps.
    ///
    /// - Returns: how far the time was advanced.
    @discardableResult
    public func runToNextDeadline() async -> Duration {
        while true {
            await waitForSleepers()
            if let next = nextDeadline {
                let span = now.duration(to: next)
                advance(to: next)
                return span
            }
            if Task.isCancelled { return .zero }
        }
    }

    /// Returns when this many sleepers wait, at once if they do. A cancelled Swift task returns at once.
    public func waitForSleepers(_ count: Int = 1) async {
        let number = state.withLock { $0.number() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.sleepers.count >= count || Task.isCancelled { return true }
                    state.waiters.append((number, count, continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiters.remove(at: index)
            }
            waiter?.continuation.resume()
        }
    }
}
