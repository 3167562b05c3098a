internal import CLinux

/// Hears that a registered socket is ready. Called on the loop.
public protocol ReadinessHandler: AnyObject {
    /// Epoll has news of the socket, or ``EventLoop/reschedule(_:)`` was called for it. The handler may deregister
    /// itself within.
    func ready(_ readiness: Readiness)
}

/// One thread, one epoll set, the sockets and timers on it. Knows nothing of HTTP or TLS.
///
/// A turn: wait · sockets that are ready · sockets that asked to go on · timers (where one has run out, behind another
/// look at the sockets) · messages from other threads · what waits until nothing is ready. Everything registered here
/// is confined to the loop's thread: plain classes, no locks. From other threads only ``post(_:)``, ``wake()``,
/// ``isCurrent`` and ``stop()`` may be called.
public final class EventLoop: @unchecked Sendable {
    // `@unchecked`: the mutable fields below are touched by the loop's own thread alone; the mailbox
    // and the constants are what other threads see.

    private struct Slot {
        var handler: (any ReadinessHandler)?
        var generation: UInt32 = 0
        var fd: CInt = -1
        var interest: Interest = []
        /// Registered here, but out of the epoll set for the time being.
        var isSuspended = false
        /// The look that found something waiting at the socket.
        var look: UInt32 = 0
    }

    /// What a batch of messages knows of the sockets that lie ready.
    private enum ReadySockets {
        /// No message is being delivered.
        case unknown
        /// No message of this batch has asked yet.
        case notLookedFor
        /// The ready sockets' slots carry the number of the last look, which was made at this time.
        case marked(Instant)
    }

    /// The slot number that stands for the mailbox; no table grows that far.
    private static let mailboxToken = Token(slot: .max, generation: 0)
    /// The clock is read again after so many events: the last of a full batch would otherwise be
    /// stamped with a time up to half a millisecond old.
    private static let eventsPerStamp = 8
    /// In nanoseconds: some ten requests are sent meanwhile. Longer, and what comes while one message works would pass
    /// unseen by the requests that it starts afterwards.
    private static let lookLifetime: Int64 = 100_000

    private let clock: LoopClock
    private let mailbox: Mailbox
    private var poller: Poller
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private var timers: TimerWheel
    private var unfinished: [Token] = []
    private var served: [Token] = []
    private var messages: [Mailbox.Message] = []
    private var readySockets = ReadySockets.unknown
    private var looks: UInt32 = 0
    private var stopping = false
    private var alarm = Alarm()
    private var idleCalls = IdleCalls()

    /// The time this turn knows: one clock read serves a batch. Loop thread only.
    public private(set) var now: Instant
    /// The turn's time on the clock that goes on in suspend: for the age of things that peers age too. Loop thread
    /// only.
    public var sinceBoot: Instant {
        if suspended == nil { suspended = clock.nanosecondsInSuspend }
        return now.advanced(byNanoseconds: suspended ?? 0)
    }
    /// How far that clock is ahead; read at most once a turn.
    private var suspended: Int64?
    /// The buffer every socket on this loop reads into. Loop thread only.
    public let readBuffer = ReadBuffer()
    /// For connections that fill that one again and again; not there before one does. Loop thread only.
    public private(set) lazy var bulkBuffer = ReadBuffer(capacity: ReadBuffer.bulk)
    /// For tasks that should run on this loop's thread.
    public let executor: LoopExecutor

    /// A loop without a thread yet: ``run()`` makes the caller its thread.
    public init(clock: LoopClock = .monotonic) throws(Errno) {
        self.clock = clock
        mailbox = try Mailbox()
        poller = try Poller()
        now = clock.now
        timers = TimerWheel(now: now)
        executor = LoopExecutor(mailbox)
        try poller.add(mailbox.wakeup.number, .edgeTriggeredRead, Self.mailboxToken)
    }

    #if DEBUG
    /// The faults this loop's system calls meet from here on; nil for none. Loop thread only, while the loop runs.
    public var faults: FaultPlan? {
        didSet { FaultPlan.install(faults) }
    }
    #endif

    // MARK: From any thread

    /// Whether the caller runs on this loop's thread.
    public var isCurrent: Bool { mailbox.thread.isCurrent }

    /// Runs `call` on the loop, after what was posted before. False if the loop has ended: `call` will not run.
    @discardableResult
    public func post(_ call: @escaping @Sendable () -> Void) -> Bool { mailbox.post(.call(call)) }

    /// Makes the loop take a turn.
    public func wake() { mailbox.wake() }

    /// Ends ``run()`` after the current turn; messages already posted are still delivered.
    public func stop() { post { self.stopping = true } }

    // MARK: Sockets (loop thread)

    /// Registers a descriptor; `handler` is kept until ``deregister(_:)``. One registration a socket,
    /// for its whole life.
    public func register(_ fd: CInt, _ interest: Interest, _ handler: any ReadinessHandler) throws(Errno) -> Token {
        let slot = free.popLast() ?? grow()
        let token = Token(slot: slot, generation: slots[Int(slot)].generation)
        do throws(Errno) {
            try poller.add(fd, interest, token)
        } catch {
            free.append(slot)
            throw error
        }
        slots[Int(slot)].handler = handler
        slots[Int(slot)].fd = fd
        slots[Int(slot)].interest = interest
        slots[Int(slot)].look = looks
        return token
    }

    /// Changes what the socket waits for; costs a system call only if something changes.
    public func setInterest(_ token: Token, _ interest: Interest) throws(Errno) {
        let slot = Int(token.slot)
        guard holds(token), slots[slot].interest != interest else { return }
        if !slots[slot].isSuspended { try poller.change(slots[slot].fd, interest, token) }
        slots[slot].interest = interest
    }

    /// Takes the socket out of the epoll set and keeps its registration. For a paused reader whose peer has
    /// reset or hung up: epoll reports that with any interest, even none, and the loop would spin.
    public func suspend(_ token: Token) {
        let slot = Int(token.slot)
        guard holds(token), !slots[slot].isSuspended else { return }
        poller.remove(slots[slot].fd)
        slots[slot].isSuspended = true
    }

    /// Puts the socket back with the interest it has; what waits there is reported next turn.
    public func resume(_ token: Token) throws(Errno) {
        let slot = Int(token.slot)
        guard holds(token), slots[slot].isSuspended else { return }
        try poller.add(slots[slot].fd, slots[slot].interest, token)
        slots[slot].isSuspended = false
    }

    /// Gives the registration to another handler: the dial to the connection it made.
    public func handOver(_ token: Token, to handler: any ReadinessHandler) {
        guard holds(token) else { return }
        // The former handler may end here, and its `deinit` may call the loop: not inside the assignment.
        let former = slots[Int(token.slot)].handler
        slots[Int(token.slot)].handler = handler
        _ = consume former
    }

    /// Must come before the descriptor is closed. Events of this batch meant for it are dropped.
    public func deregister(_ token: Token) {
        guard holds(token) else { return }
        let slot = Int(token.slot)
        if !slots[slot].isSuspended { poller.remove(slots[slot].fd) }
        let former = slots[slot].handler
        slots[slot] = Slot(generation: slots[slot].generation &+ 1)
        free.append(token.slot)
        // The handler may end here, and its `deinit` may call the loop: not before the table is whole again.
        _ = consume former
    }

    /// The handler is called again when this turn's events are dealt with, with `.rescheduled`: for work left over when
    /// its budget ended, and for bytes that wait in a layer epoll does not see. Asked for twice, it comes twice.
    public func reschedule(_ token: Token) { unfinished.append(token) }

    /// Whether bytes, or the end, may have come for a socket since its handler was last called. False only if none had
    /// when the message that is being delivered was posted, nor 100 µs ago: one system call tells it for all sockets
    /// and for all messages of a batch. True outside a message, and for a socket that does not wait to read.
    public func mayHaveNews(_ token: Token) -> Bool {
        let slot = Int(token.slot)
        guard holds(token), slots[slot].interest.contains(.read), !slots[slot].isSuspended else { return true }
        switch readySockets {
        case .unknown: return true
        case .marked(let time) where Instant.current().nanoseconds(since: time) < Self.lookLifetime: break
        case .notLookedFor, .marked: readySockets = lookForReadySockets()
        }
        return slots[slot].look == looks
    }

    /// Registered sockets, the mailbox not counted.
    public var registrations: Int { slots.count - free.count }

    // MARK: Timers (loop thread)

    /// Arms a timer. It fires at `deadline` or up to 8.4 ms later, never early.
    public func arm(at deadline: Instant, _ handler: any TimerHandler) -> TimerID { timers.arm(at: deadline, handler) }

    /// Cancelling a spent timer is no error: the two may cross in one turn.
    public func cancel(_ timer: TimerID) {
        // Its handler may end here, and its `deinit` may call the loop: not inside the wheel.
        _ = timers.remove(timer)
    }

    /// Timers that have neither fired nor been cancelled.
    public var armedTimers: Int { timers.count }

    /// Sets the loop's one sharp timer, in place of what it was set to before: `handler` is called once, at the first
    /// look at the clock from `deadline` on. That is some 50 µs later on an idle core, and within a batch of events
    /// after eight of them. The first call makes the kernel's timers sharp for this thread (`PR_SET_TIMERSLACK`).
    ///
    /// - Parameters:
    ///   - deadline: when the handler is called.
    ///   - spin: how long before the deadline to stop sleeping and to poll instead, in nanoseconds: sharper
    ///     still, and paid with the core.
    ///   - handler: held until then. A new alarm replaces the one before.
    public func setAlarm(at deadline: Instant, spin: Int64 = 0, _ handler: any AlarmHandler) {
        alarm.set(deadline, spin, handler)
    }

    /// Reads the clock now, for a caller that needs better than the turn's time.
    @discardableResult
    public func stamp() -> Instant {
        now = clock.now
        return now
    }

    /// Runs `call` once no socket has anything for us, a few turns from now at the latest: for work that costs less
    /// when it is done together. In the order asked; what is asked for meanwhile waits for the next time. Loop thread
    /// only.
    public func runWhenIdle(_ call: @escaping () -> Void) { idleCalls.add(call) }

    // MARK: Running

    /// Turns until ``stop()``. The caller's thread becomes the loop's.
    public func run() {
        mailbox.thread.adopt()
        while !stopping { turn() }
        mailbox.close()
        deliverMessages()
        for call in idleCalls.take() { call() }
        releaseEverything()
        #if DEBUG
        faults = nil
        #endif
        mailbox.thread.abandon()
    }

    private func turn() {
        let ready: Int
        do throws(Errno) {
            ready = alarm.isSet ? try waitForAlarm() : try poller.wait(milliseconds: timeout())
        } catch {
            // EBADF, EFAULT or EINVAL on our own epoll set: this loop's memory is corrupt.
            preconditionFailure("epoll_wait failed on the loop's own set: \(error)")
        }
        stamp()
        suspended = nil
        for index in 0..<ready {
            let event = poller.event(index)
            dispatch(event.token, event.readiness)
            if index % Self.eventsPerStamp == Self.eventsPerStamp - 1 {
                stamp()
                if alarm.isDue(now) { alarm.take()?.alarmRang() }
            }
        }
        if alarm.isDue(now) { alarm.take()?.alarmRang() }
        serveUnfinished()
        fireTimers()
        deliverMessages()
        if idleCalls.endTurn(events: ready) { for call in idleCalls.take() { call() } }
    }

    /// Fires the timers that have run out. The sockets are looked at once more first, and the clock is not read again
    /// in between: what had come before a deadline is dealt with before its timer fires, even if this thread stood
    /// still meanwhile (SIGSTOP, a debugger, a signal that ended the wait early, a busy machine).
    private func fireTimers() {
        guard let next = timers.nextWake, next <= now else { return }
        takeReadyEvents()
        for index in 0..<timers.advance(to: now) {
            if let (id, handler) = timers.takeDue(at: index) { handler.timerFired(id) }
        }
    }

    /// Dispatches what is ready now, without waiting and at this turn's time: batch after batch, as long as there may
    /// be sockets that have had no turn.
    private func takeReadyEvents() {
        for _ in 0...registrations / Poller.batch {
            guard let ready = try? poller.wait(milliseconds: 0) else { return }
            for index in 0..<ready {
                let event = poller.event(index)
                dispatch(event.token, event.readiness)
            }
            guard ready == Poller.batch else { return }
        }
    }

    /// As ``timeout()``, and no longer than until the alarm.
    private func waitForAlarm() throws(Errno) -> Int {
        let milliseconds = timeout()
        let left = alarm.nanoseconds(from: clock.now)
        guard left > 0 else { return try poller.wait(milliseconds: 0) }
        if case .manual = clock { return try poller.wait(milliseconds: milliseconds) }
        guard milliseconds >= 0 else { return try poller.wait(nanoseconds: left) }
        return try poller.wait(nanoseconds: min(left, Int64(milliseconds) * 1_000_000))
    }

    /// Rounded up to whole milliseconds, so that a turn never ends just before the timer it waits for.
    private func timeout() -> CInt {
        guard unfinished.isEmpty, idleCalls.isEmpty, !mailbox.isSignalled, !stopping else { return 0 }
        guard let next = timers.nextWake else { return -1 }
        let wait = next.nanoseconds(since: clock.now)
        guard wait > 0 else { return 0 }
        if case .manual = clock { return -1 }
        return CInt(clamping: (wait + 999_999) / 1_000_000)
    }

    @inline(__always)
    private func dispatch(_ token: Token, _ readiness: Readiness) {
        let slot = Int(token.slot)
        guard slot < slots.count, slots[slot].generation == token.generation else { return }
        slots[slot].handler?.ready(readiness)
    }

    /// Those that ask while they are served wait for the next turn, so that they cannot hold the loop.
    private func serveUnfinished() {
        guard !unfinished.isEmpty else { return }
        swap(&unfinished, &served)
        for token in served { dispatch(token, .rescheduled) }
        served.removeAll(keepingCapacity: true)
    }

    /// What is posted meanwhile, by these messages too, waits for the next turn, so that messages cannot hold the loop.
    private func deliverMessages() {
        guard mailbox.isSignalled else { return }
        mailbox.drain(into: &messages)
        readySockets = .notLookedFor
        for message in messages {
            switch message {
            case .call(let call): call()
            case .job(let job): executor.run(job)
            }
        }
        readySockets = .unknown
        messages.removeAll(keepingCapacity: true)
    }

    /// Marks the sockets that lie ready, and leaves them to the next turn: epoll reports them again. It reports the
    /// mailbox once only, but that says itself whether it holds anything.
    private func lookForReadySockets() -> ReadySockets {
        let time = Instant.current()
        looks &+= 1
        guard let ready = poller.look(), ready < Poller.batch else {
            for slot in slots.indices { slots[slot].look = looks }
            return .marked(time)
        }
        for index in 0..<ready {
            let slot = Int(poller.event(index).token.slot)
            if slot < slots.count { slots[slot].look = looks }
        }
        return .marked(time)
    }

    /// Handlers refer to the loop and it to them; an ended loop lets go of all.
    private func releaseEverything() {
        while true {
            let held = slots.indices.filter { slots[$0].handler != nil }
            guard !held.isEmpty else { break }
            for slot in held {
                deregister(Token(slot: UInt32(slot), generation: slots[slot].generation))
            }
        }
        // What their handlers' `deinit`s cancel is no longer there.
        var former = TimerWheel(now: now)
        swap(&timers, &former)
        _ = consume former
        alarm.clear()
    }

    private func holds(_ token: Token) -> Bool {
        Int(token.slot) < slots.count && slots[Int(token.slot)].generation == token.generation
    }

    private func grow() -> UInt32 {
        slots.append(Slot())
        return UInt32(slots.count - 1)
    }
}
