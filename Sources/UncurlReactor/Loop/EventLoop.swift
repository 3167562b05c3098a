internal import CUncurlLinux
internal import Synchronization

/// One thread, one epoll set, and its sockets and timers. It knows nothing of HTTP or TLS.
/// A turn: wait · sockets that are ready · sockets that asked to be called again · messages from other threads · timers
/// (if one has run out, after another look at the sockets) · calls for when nothing is ready. Everything registered
/// here is confined to the loop's thread: plain classes, no locks. From other threads only ``post(_:)``, ``wake()``,
/// ``isCurrent`` and ``stop()`` may be called.
public final class EventLoop: @unchecked Sendable {
    // `@unchecked`: only the loop's own thread uses the mutable fields below; other threads see only the mailbox and
    // the constants.

    private struct Slot {
        var handler: (any ReadinessHandler)?
        var generation: UInt32 = 0
        var fd: CInt = -1
        var interest: Interest = []
        /// Whether it is registered here, but not in the epoll set at present.
        var isSuspended = false
        /// The number of the look that found something waiting at the socket.
        var look: UInt32 = 0
    }

    /// The token of the mailbox; no table grows to that slot number.
    private static let mailboxToken = Token(slot: .max, generation: 0)
    /// The most turns that a call waits for an idle turn. A busy turn takes a fraction of a millisecond.
    private static let idlePatience = 4
    /// The clock is read again after that many events: otherwise the last event of a full batch would get a time up to
    /// half a millisecond old.
    private static let eventsPerStamp = 8
    /// How long a look is valid, in nanoseconds: some ten requests are sent in that time. If it were longer, what comes
    /// while one message works would not be seen by the requests that it starts after that.
    private static let lookLifetime: Int64 = 100_000

    /// A clock that tests advance; nil for the machine's (CLOCK_MONOTONIC), which stops while the machine sleeps.
    private let clock: ManualClock?
    private var poller: Poller
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private var timers: TimerWheel
    private var unfinished: [Token] = []
    private var served: [Token] = []
    private var messages: [LoopExecutor.Message] = []
    /// When the ready sockets' slots got the number of the last look: 0 if no message of this batch has asked yet, nil
    /// while no message is being delivered.
    private var lookedAt: Instant?
    private var looks: UInt32 = 0
    private var stopping = false
    private var alarm = Alarm()
    private var idleCalls: [() -> Void] = []
    /// How many turns the idle calls have waited.
    private var idleTurns = 0

    /// The time of this turn: one clock read serves a batch. Loop thread only.
    public var now: Instant { turnTime }
    /// A public stored property would cost a dynamic check for exclusive access each time it is read.
    private var turnTime: Instant
    /// The turn's time on the clock that goes on in suspend: for the age of what peers age too. Loop thread only.
    public var sinceBoot: Instant {
        if suspended == nil { suspended = clock == nil ? Instant.sinceBoot().nanoseconds(since: .current()) : 0 }
        return now.advanced(byNanoseconds: suspended ?? 0)
    }
    /// How far that clock is ahead; it is read at most once a turn.
    private var suspended: Int64?
    /// The buffer every socket on this loop reads into. Loop thread only.
    public let readBuffer = ReadBuffer()
    /// The buffer for connections that fill that one again and again. It is made when one does. Loop thread only.
    public private(set) lazy var bulkBuffer = ReadBuffer(capacity: ReadBuffer.bulk)
    /// The executor for tasks that are to run on this loop's thread.
    public let executor: LoopExecutor

    /// Makes a loop without a thread: ``run()`` makes the caller's thread the loop's.
    ///
    /// - Parameter clock: a clock that tests advance; nil for the machine's.
    public init(clock: ManualClock? = nil) throws(Errno) {
        self.clock = clock
        executor = try LoopExecutor()
        poller = try Poller()
        turnTime = clock?.now ?? .current()
        timers = TimerWheel(now: turnTime)
        try poller.add(executor.wakeup.number, .edgeTriggeredRead, Self.mailboxToken)
    }

    #if DEBUG
    /// The faults that this loop's system calls get from here on; nil for none. Loop thread only, while the loop runs.
    public var faults: FaultPlan? {
        didSet { FaultPlan.install(faults) }
    }
    #endif

    // MARK: From any thread

    /// Whether the caller runs on this loop's thread.
    public var isCurrent: Bool { executor.isCurrent }

    /// Runs `call` on the loop, after what was posted before. Returns false if the loop has ended: then it will not
    /// run.
    @discardableResult
    public func post(_ call: @escaping @Sendable () -> Void) -> Bool { executor.post(.call(call)) }

    /// Makes the loop take a turn.
    public func wake() { executor.wake() }

    /// Ends ``run()`` after the current turn; messages already posted are still delivered.
    public func stop() { post { self.stopping = true } }

    // MARK: Sockets (loop thread)

    /// Registers a descriptor, once for its whole life; `handler` is kept until ``deregister(_:)``.
    public func register(_ fd: CInt, _ interest: Interest, _ handler: any ReadinessHandler) throws(Errno) -> Token {
        let slot = free.popLast() ?? grow()
        let token = Token(slot: slot, generation: slots[Int(slot)].generation)
        do throws(Errno) {
            try poller.add(fd, interest, token)
        } catch {
            free.append(slot)
            throw error
        }
        slots[Int(slot)] = Slot(handler: handler, generation: token.generation, fd: fd, interest: interest, look: looks)
        return token
    }

    /// Changes the events that the socket waits for. It costs a system call only if something changes.
    public func setInterest(_ token: Token, _ interest: Interest) throws(Errno) {
        guard let slot = place(of: token), slots[slot].interest != interest else { return }
        if !slots[slot].isSuspended { try poller.change(slots[slot].fd, interest, token) }
        slots[slot].interest = interest
    }

    /// Takes the socket out of the epoll set and keeps its registration. It is for a paused reader whose peer has reset
    /// or hung up: epoll reports that with any interest, even none, and the loop would spin.
    public func suspend(_ token: Token) {
        guard let slot = place(of: token), !slots[slot].isSuspended else { return }
        poller.remove(slots[slot].fd)
        slots[slot].isSuspended = true
    }

    /// Puts the socket back with its interest; events that wait there are reported next turn.
    public func resume(_ token: Token) throws(Errno) {
        guard let slot = place(of: token), slots[slot].isSuspended else { return }
        try poller.add(slots[slot].fd, slots[slot].interest, token)
        slots[slot].isSuspended = false
    }

    /// Gives the registration to another handler, as a dial does to the connection that it made.
    public func handOver(_ token: Token, to handler: any ReadinessHandler) {
        guard let slot = place(of: token) else { return }
        // Releasing the former handler may run a `deinit` that calls the loop, so it is not done within the assignment.
        let former = slots[slot].handler
        slots[slot].handler = handler
        _ = consume former
    }

    /// Ends a registration. It must be called before the descriptor is closed. Its events in this batch are dropped.
    public func deregister(_ token: Token) {
        guard let slot = place(of: token) else { return }
        if !slots[slot].isSuspended { poller.remove(slots[slot].fd) }
        let former = slots[slot].handler
        slots[slot] = Slot(generation: slots[slot].generation &+ 1)
        free.append(token.slot)
        // Releasing the handler may run a `deinit` that calls the loop, so it is done once the table is consistent
        // again.
        _ = consume former
    }

    /// Calls the handler again after this turn's events, with `.rescheduled`: for work that was left when its budget
    /// was used up, and for bytes that wait in a layer that epoll does not see. If it is called twice, so is the
    /// handler.
    public func reschedule(_ token: Token) { unfinished.append(token) }

    /// Whether bytes, or the end, may have come for a socket since its handler was last called. It is false only if
    /// none had when the message that is being delivered was posted, nor 100 µs ago: one system call tells it for all
    /// sockets and for all messages of a batch. True outside a message, and for a socket that does not wait to read.
    public func mayHaveNews(_ token: Token) -> Bool {
        guard let slot = place(of: token), slots[slot].interest.contains(.read), !slots[slot].isSuspended else {
            return true
        }
        guard let lookedAt else { return true }
        let time = Instant.current()
        if time.nanoseconds(since: lookedAt) >= Self.lookLifetime { lookForReadySockets(at: time) }
        return slots[slot].look == looks
    }

    /// How many sockets are registered, without the mailbox.
    public var registrations: Int { slots.count - free.count }

    // MARK: Timers (loop thread)

    /// Arms a timer. It fires at `deadline` or up to 8.4 ms later, never early.
    public func arm(at deadline: Instant, _ handler: any TimerHandler) -> TimerID { timers.arm(at: deadline, handler) }

    /// Cancels a timer. Cancelling a spent timer is no error: both may happen in one turn.
    public func cancel(_ timer: TimerID) {
        // Releasing the handler may run a `deinit` that calls the loop, so it is not done within the wheel.
        _ = timers.remove(timer)
    }

    /// How many timers have neither fired nor been cancelled.
    public var armedTimers: Int { timers.count }

    /// Sets the loop's one precise timer, in place of an earlier one: `handler` is called once, when the clock is first
    /// read from `deadline` on. That is some 50 µs later on an idle core, and after eight events within a batch. The
    /// first call makes the kernel's timers precise for this thread (`PR_SET_TIMERSLACK`).
    ///
    /// - Parameters:
    ///   - deadline: when the handler is called.
    ///   - spin: how long before the deadline to poll instead of sleeping, in nanoseconds: more precise, at the cost of
    ///   the core.
    ///   - handler: kept until then. A new alarm replaces the one before.
    public func setAlarm(at deadline: Instant, spin: Int64 = 0, _ handler: any AlarmHandler) {
        alarm.set(deadline, spin, handler)
    }

    @inline(__always)
    private var currentTime: Instant { clock?.now ?? .current() }

    /// Reads the clock now, for a caller that needs more than the turn's time.
    @discardableResult
    public func stamp() -> Instant {
        turnTime = currentTime
        return turnTime
    }

    /// Runs `call` once no socket has events, a few turns from now at the latest: for work that costs less when it is
    /// done together. Calls are made in order; those added meanwhile wait for the next time. Loop thread only.
    public func runWhenIdle(_ call: @escaping () -> Void) { idleCalls.append(call) }

    // MARK: Running

    /// Runs turns until ``stop()``. The caller's thread becomes the loop's.
    public func run() {
        executor.adopt()
        while !stopping { turn() }
        executor.close()
        // The mailbox may hold a message that was added before it closed, and that is not signalled yet.
        deliverMessages()
        runIdleCalls()
        releaseEverything()
        #if DEBUG
        faults = nil
        #endif
        executor.abandon()
    }

    private func turn() {
        let ready: Int
        do throws(Errno) {
            ready = alarm.isSet ? try waitForAlarm() : try poller.wait(milliseconds: timeout())
        } catch {
            // EBADF, EFAULT or EINVAL on our own epoll set: this loop's memory is corrupt.
            preconditionFailure("epoll_wait failed on the loop's own set: \(error)")
        }
        suspended = nil
        dispatchEvents(ready)
        if alarm.isDue(now) { alarm.take()?.alarmRang() }
        serveUnfinished()
        let time = now
        if executor.isSignalled { deliverMessages() }
        fireTimers(until: time)
        guard !idleCalls.isEmpty else { return }
        idleTurns += 1
        if ready == 0 || idleTurns >= Self.idlePatience { runIdleCalls() }
    }

    /// Each call may add another for the next time.
    private func runIdleCalls() {
        let calls = idleCalls
        (idleCalls, idleTurns) = ([], 0)
        for call in calls { call() }
    }

    /// Fires the timers that have run out. `time` was read before the messages were taken, and the sockets are checked
    /// once more first: events and messages that came before a deadline are handled before its timer fires, even if
    /// this thread was stopped meanwhile (SIGSTOP, a debugger, a signal that ended the wait early, a busy machine).
    private func fireTimers(until time: Instant) {
        guard let next = timers.nextWake, next <= time else { return }
        takeReadyEvents()
        for index in 0..<timers.advance(to: time) {
            if let (id, handler) = timers.takeDue(at: index) { handler.timerFired(id) }
        }
    }

    /// Dispatches what is ready now, without waiting, until every socket has had its turn.
    private func takeReadyEvents() {
        for _ in 0...registrations / Poller.batch {
            guard let ready = try? poller.wait(milliseconds: 0) else { return }
            dispatchEvents(ready)
            guard ready == Poller.batch else { return }
        }
    }

    /// Dispatches the events of a look at the sockets, at times read after it: no answer may seem to take no time.
    @inline(__always)
    private func dispatchEvents(_ ready: Int) {
        stamp()
        for index in 0..<ready {
            let event = poller.event(index)
            dispatch(event.token, event.readiness)
            guard index % Self.eventsPerStamp == Self.eventsPerStamp - 1 else { continue }
            stamp()
            if alarm.isDue(now) { alarm.take()?.alarmRang() }
        }
    }

    /// Waits as ``timeout()`` says, and no longer than until the alarm.
    private func waitForAlarm() throws(Errno) -> Int {
        let milliseconds = timeout()
        let left = alarm.nanoseconds(from: currentTime)
        guard left > 0 else { return try poller.wait(milliseconds: 0) }
        if clock != nil { return try poller.wait(milliseconds: milliseconds) }
        guard milliseconds >= 0 else { return try poller.wait(nanoseconds: left) }
        return try poller.wait(nanoseconds: min(left, Int64(milliseconds) * 1_000_000))
    }

    /// Returns the timeout, rounded up to whole milliseconds, so that a turn never ends just before the timer it waits
    /// for.
    private func timeout() -> CInt {
        guard unfinished.isEmpty, idleCalls.isEmpty, !executor.isSignalled, !stopping else { return 0 }
        guard let next = timers.nextWake else { return -1 }
        let wait = next.nanoseconds(since: currentTime)
        guard wait > 0 else { return 0 }
        if clock != nil { return -1 }
        return CInt(clamping: (wait + 999_999) / 1_000_000)
    }

    @inline(__always)
    private func dispatch(_ token: Token, _ readiness: Readiness) {
        guard let slot = place(of: token) else { return }
        slots[slot].handler?.ready(readiness)
    }

    /// Calls the handlers that asked for it. Those that ask again meanwhile wait for the next turn, so that they cannot
    /// hold the loop.
    private func serveUnfinished() {
        guard !unfinished.isEmpty else { return }
        swap(&unfinished, &served)
        for token in served {
            // It may read what has come since the time before.
            stamp()
            dispatch(token, .rescheduled)
        }
        served.removeAll(keepingCapacity: true)
    }

    /// Delivers messages, at a time read after they were posted, so that no timer of theirs is early. What is posted
    /// meanwhile, also by these, waits for the next turn, so messages cannot hold the loop.
    private func deliverMessages() {
        executor.drain(into: &messages)
        stamp()
        lookedAt = Instant(nanoseconds: 0)
        for message in messages {
            switch message {
            case .call(let call): call()
            case .job(let job): executor.run(job)
            }
        }
        lookedAt = nil
        messages.removeAll(keepingCapacity: true)
    }

    /// Marks the sockets that are ready, and leaves them to the next turn: epoll reports them again. It reports the
    /// mailbox only once, but the mailbox itself knows whether it holds anything.
    private func lookForReadySockets(at time: Instant) {
        lookedAt = time
        looks &+= 1
        mark(&slots)
    }

    /// One access to the table for all sockets: each of the loop's variables is guarded at each access.
    private func mark(_ slots: inout [Slot]) {
        let look = looks
        guard let ready = poller.look(), ready < Poller.batch else {
            for slot in slots.indices { slots[slot].look = look }
            return
        }
        for index in 0..<ready {
            let slot = Int(poller.event(index).token.slot)
            if slot < slots.count { slots[slot].look = look }
        }
    }

    /// Releases all handlers: they refer to the loop and it to them.
    private func releaseEverything() {
        while true {
            let held = slots.indices.filter { slots[$0].handler != nil }
            guard !held.isEmpty else { break }
            for slot in held {
                deregister(Token(slot: UInt32(slot), generation: slots[slot].generation))
            }
        }
        // The timers that their handlers' `deinit`s cancel are no longer there.
        var former = TimerWheel(now: now)
        swap(&timers, &former)
        _ = consume former
        alarm.clear()
    }

    /// Returns the slot of a registration; nil if it has ended.
    @inline(__always)
    private func place(of token: Token) -> Int? {
        let slot = Int(token.slot)
        return slot < slots.count && slots[slot].generation == token.generation ? slot : nil
    }

    private func grow() -> UInt32 {
        slots.append(Slot())
        return UInt32(slots.count - 1)
    }
}

/// The loop as a `TaskExecutor`: a task that prefers it runs between the loop's events, so that a
/// continuation resumed by the engine continues on the same thread. One request this way was measured
/// at 13–14 µs of CPU and 3.0 system calls, against 28–30 µs and 7.3 through another thread.
///
/// ```swift
/// try await withTaskExecutorPreference(loop.executor) { … }
/// ```
/// Work on it must not block: everything else on the loop waits meanwhile.
public final class LoopExecutor: TaskExecutor {
    // It is the loop's mailbox: the messages of other threads, and the eventfd that wakes it.
    //
    // A post wakes the loop only if no other has since the loop last looked (with 32 concurrent callers, 0.07–0.18
    // wake-ups a request were measured), and never from the loop's own thread. The eventfd is registered
    // edge-triggered, so the loop never reads it: each write is a new edge. It lives as long as this, that is until the
    // last handle to the loop is released, so no writer meets a closed or reused descriptor.
    enum Message {
        case call(@Sendable () -> Void)
        case job(UnownedJob)
    }

    let wakeup: OwnedFD
    /// The loop's thread; 0 for none. `pthread_self` is an address on glibc, never 0.
    private let thread = Atomic<UInt>(0)
    private let state = Mutex<(messages: [Message], closed: Bool)>(([], false))
    private let signalled = Atomic(false)

    init() throws(Errno) {
        wakeup = OwnedFD(taking: try callingOnce { uncurl_event_fd() })
    }

    /// Adds a message. Returns false if the loop has ended: then the message was not taken.
    func post(_ message: Message) -> Bool {
        let taken = take(message)
        if taken { wake() }
        return taken
    }

    /// The first half of ``post(_:)``: the loop does not hear of the message yet.
    func take(_ message: Message) -> Bool {
        state.withLock { state in
            if !state.closed { state.messages.append(message) }
            return !state.closed
        }
    }

    func wake() {
        guard !signalled.exchange(true, ordering: .acquiringAndReleasing), !isCurrent else { return }
        var one: UInt64 = 1
        // EAGAIN would mean 2^64 unread wake-ups: then the loop wakes anyway.
        _ = unsafe write(wakeup.number, &one, 8)
    }

    /// Whether the caller runs on the loop's thread. Any thread may ask.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Makes the caller's thread the loop's.
    func adopt() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

    func abandon() { thread.store(0, ordering: .relaxed) }

    /// Whether anything was posted since the last ``drain(into:)``: then the loop must not sleep now.
    var isSignalled: Bool { signalled.load(ordering: .acquiring) }

    /// Moves the messages into `messages`, which must be empty: the two arrays are swapped, so that a warm mailbox
    /// allocates nothing. The flag is cleared first; a post from here on wakes the loop again.
    func drain(into messages: inout [Message]) {
        signalled.store(false, ordering: .sequentiallyConsistent)
        state.withLock { state in swap(&state.messages, &messages) }
    }

    /// Closes the mailbox: no more messages are taken.
    func close() { state.withLock { state in state.closed = true } }

    /// Runs a job on the loop's thread, after what was posted before. Swift's tasks call it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if post(.job(job)) { return }
        // The loop has ended; if the job were not run, its task would wait for ever.
        globalConcurrentExecutor.enqueue(job)
    }

    func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// A clock for a loop that only advances when told to: tests of timers do not have to wait. Any thread.
public final class ManualClock: Sendable {
    private let nanoseconds: Atomic<Int64>

    /// Makes a clock with the time `start`.
    public init(start: Instant = Instant(nanoseconds: 1 << 40)) {
        nanoseconds = Atomic(start.nanoseconds)
    }

    /// The time that it was advanced to.
    public var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }

    /// Advances the time and wakes `loop`, so that the timers that have run out fire.
    public func advance(by span: Duration, waking loop: EventLoop) {
        nanoseconds.wrappingAdd(span.wholeNanoseconds, ordering: .acquiringAndReleasing)
        loop.wake()
    }
}

/// A buffer that a loop's sockets are read into, one after the other. An idle connection owns none.
@safe public final class ReadBuffer {
    /// The usual capacity: half of it fits into the second-level cache while it is parsed.
    public static let usual = 64 * 1024
    /// The capacity for a connection that fills the usual one turn after turn. A large download takes half the CPU time
    /// with it, since there are fewer wake-ups for more bytes each (`./dev bench download`). For short answers it would
    /// only evict the cache.
    public static let bulk = 256 * 1024

    /// The most bytes of one read.
    public let capacity: Int

    @usableFromInline let storage: UnsafeMutableRawBufferPointer

    init(capacity: Int = ReadBuffer.usual) {
        self.capacity = capacity
        unsafe storage = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit { unsafe storage.deallocate() }

    /// The first `count` bytes, as the last read left them. Valid until the next read on this loop.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ count: Int,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(storage).bindMemory(to: UInt8.self)
        return try unsafe body(bytes.span.extracting(first: count))
    }
}

extension EventLoop {
    /// Runs `body` on the loop and waits for its result, at most 30 s. Must not be called on the loop itself.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        let answer = Monitor<Result<Value, Errno>?>(nil)
        let taken = post {
            let result = Result { () throws(Errno) in try body() }
            answer.update { $0 = result }
        }
        guard taken, let result = answer.wait(atMost: .seconds(30), until: { $0 }) else { throw .timedOut }
        return try result.get()
    }
}

/// A loop's own object on its way through other threads: any thread may hold it, and only the loop may open it.
///
/// The last reference may be released on another thread, so the `deinit` of the value must not use the loop.
public struct LoopBound<Value>: @unchecked Sendable {
    // `@unchecked`: the value can be reached only through `value`, which first checks for the loop's thread.

    /// The loop whose thread may open it.
    public let loop: EventLoop
    /// For what any thread may ask of the value; else ``value``.
    let carried: Value

    /// Wraps a value. Any thread that may use `value` now; usually the loop's own.
    public init(_ value: Value, on loop: EventLoop) {
        self.loop = loop
        carried = value
    }

    /// The value. Loop thread only; on another thread this traps, since it would be a data race.
    public var value: Value {
        precondition(loop.isCurrent, "a loop's object was opened on another thread")
        return carried
    }
}
