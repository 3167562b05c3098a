internal import Synchronization
import UncurlReactor

/// The requests of all threads that are due and were not sent at once. They form one queue: whichever thread has a free
/// connection takes the request that was due first.
///
/// A request that finds a free connection on its own thread, while no other waits, never comes here. A thread that adds
/// requests calls one with a free connection, and a thread that leaves some behind calls the next. The lock guards
/// `parts` and `calls`; each count beside it is one number that all threads may read.
final class Backlog: Sendable {
    typealias Request = (due: Instant, noticed: Instant, number: UInt64)

    /// - calls: Each has a thread look at the backlog; nil once the thread has left.
    private typealias State = (parts: [WaitingArrivals?], calls: [(@Sendable () -> Void)?])

    /// What the other threads read of a thread. It is an object of its own, so that threads do not share its memory.
    private final class Place: Sendable {
        let isFree = Atomic(false)
        /// Whether it was called and has not looked yet.
        let isCalled = Atomic(false)
        let isOver = Atomic(false)
    }

    private let state: Mutex<State>
    private let places: [Place]
    private let waiting = Atomic<UInt64>(0)
    private let unfinished: Atomic<Int>

    init(threads: Int) {
        state = Mutex((Array(repeating: nil, count: threads), Array(repeating: nil, count: threads)))
        places = (0..<threads).map { _ in Place() }
        unfinished = Atomic(threads)
    }

    var count: UInt64 { waiting.load(ordering: .sequentiallyConsistent) }
    var isEmpty: Bool { count == 0 }
    /// Whether no request waits, and none will.
    var isOver: Bool { unfinished.load(ordering: .acquiring) == 0 && isEmpty }

    func join(_ thread: Int, _ call: @escaping @Sendable () -> Void) { state.withLock { $0.calls[thread] = call } }

    // MARK: Requests

    /// Adds the thread's arrivals from `cursor` to `end`, which were noticed at `now`.
    func add(_ thread: Int, from cursor: ArrivalCursor, until end: UInt64, at now: Instant) {
        let count = end - cursor.index
        state.withLock { state in
            var part = state.parts[thread].take() ?? WaitingArrivals(from: cursor)
            part.notice(from: cursor, until: end, at: now)
            state.parts[thread] = part
            waiting.wrappingAdd(count, ordering: .sequentiallyConsistent)
        }
    }

    func take() -> Request? {
        let (request, isLast) = state.withLock { state -> (Request?, Bool) in
            var first: (thread: Int, due: Instant)?
            for thread in state.parts.indices {
                guard let due = state.parts[thread]?.next, due < first?.due ?? .never else { continue }
                first = (thread, due)
            }
            guard let thread = first?.thread, let request = state.parts[thread]?.take() else { return (nil, false) }
            return (request, waiting.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0)
        }
        if isLast, isOver { callAll() }
        return request
    }

    /// Drops the thread's own requests, and calls `body` for each or, if there are very many, for parts of them.
    func drop(_ thread: Int, _ body: (_ due: Instant, _ count: UInt64) -> Void = { _, _ in }) {
        let part = state.withLock { state in
            let part = state.parts[thread].take()
            waiting.wrappingSubtract(part?.count ?? 0, ordering: .sequentiallyConsistent)
            return part
        }
        guard var part else { return }
        part.takeAll(body)
        if isEmpty { callAll() }
    }

    // MARK: Threads

    /// Says whether the thread has a connection for the next request. Returns true if a request had come before the
    /// others could see that.
    func setFree(_ thread: Int, _ isFree: Bool) -> Bool {
        places[thread].isFree.store(isFree, ordering: .sequentiallyConsistent)
        return isFree && !isEmpty
    }

    /// Calls a thread with a free connection, if there is one. The search begins behind the caller, so that the others
    /// have turns.
    func callFree(after thread: Int) {
        for step in 1..<max(1, places.count) {
            let other = (thread + step) % places.count
            guard places[other].isFree.load(ordering: .sequentiallyConsistent) else { continue }
            return call(other)
        }
    }

    func answered(_ thread: Int) { places[thread].isCalled.store(false, ordering: .sequentiallyConsistent) }

    /// Notes that the thread will add no more requests.
    func end(_ thread: Int) {
        guard !places[thread].isOver.exchange(true, ordering: .relaxed) else { return }
        if unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0, isEmpty { callAll() }
    }

    /// Ends the thread's part in the run: it takes no request any more.
    func leave(_ thread: Int) {
        _ = setFree(thread, false)
        end(thread)
        state.withLock { $0.calls[thread] = nil }
        if !isEmpty { callFree(after: thread) }
    }

    private func callAll() { for thread in places.indices { call(thread) } }

    private func call(_ thread: Int) {
        guard !places[thread].isCalled.exchange(true, ordering: .sequentiallyConsistent) else { return }
        state.withLock { $0.calls[thread] }?()
    }
}
