internal import CUncurlLinux

/// The epoll set: registration, changes, and one batch of events a turn.
///
/// It is level-triggered. Measured, both kinds of triggers need two system calls a request; with levels it is safe to
/// take a short read for the end of the data, without remembering RDHUP (ARCHITECTURE.md, Measured).
@safe struct Poller: ~Copyable {
    /// How many events are taken in one wait: enough that a busy loop waits once for a few hundred events.
    static let batch = 512

    private let epoll: OwnedFD
    private let events: UnsafeMutablePointer<epoll_event>

    init() throws(Errno) {
        let number = try callingOnce { epoll_create1(O_CLOEXEC) }
        epoll = OwnedFD(taking: number)
        unsafe events = .allocate(capacity: Poller.batch)
    }

    deinit { unsafe events.deallocate() }

    func add(_ fd: CInt, _ interest: Interest, _ token: Token) throws(Errno) {
        _ = try callingOnce(.epollAdd) { control(EPOLL_CTL_ADD, fd, interest, token) }
    }

    func change(_ fd: CInt, _ interest: Interest, _ token: Token) throws(Errno) {
        _ = try callingOnce(.epollModify) { control(EPOLL_CTL_MOD, fd, interest, token) }
    }

    @inline(__always)
    private func control(_ operation: CInt, _ fd: CInt, _ interest: Interest, _ token: Token) -> CInt {
        uncurl_epoll_ctl(epoll.number, operation, fd, interest.rawValue, token.packed)
    }

    /// Removes a socket. This must be done before the close: a description shared with a forked child would be reported
    /// for ever.
    func remove(_ fd: CInt) {
        _ = uncurl_epoll_ctl(epoll.number, EPOLL_CTL_DEL, fd, 0, 0)
    }

    /// Waits for at most `milliseconds` (-1: no limit) and returns how many events there are for ``event(_:)``. A
    /// signal counts as no event: the turn then computes its timeout anew.
    func wait(milliseconds: CInt) throws(Errno) -> Int {
        try eventCount { unsafe epoll_wait(epoll.number, events, CInt(Poller.batch), milliseconds) }
    }

    /// Returns how many events there are for ``event(_:)`` now; nil if that cannot be told.
    func look() -> Int? {
        let count = try? callingOnce(.epollWait) { unsafe epoll_wait(epoll.number, events, CInt(Poller.batch), 0) }
        return count.map(Int.init)
    }

    /// Waits as ``wait(milliseconds:)``, with a more precise clock, for at most `nanoseconds`.
    func wait(nanoseconds: Int64) throws(Errno) -> Int {
        try eventCount { unsafe uncurl_epoll_wait_ns(epoll.number, events, CInt(Poller.batch), nanoseconds) }
    }

    @inline(__always)
    private func eventCount(_ wait: () -> CInt) throws(Errno) -> Int {
        do throws(Errno) {
            return Int(try callingOnce(.epollWait, wait))
        } catch .interrupted {
            return 0
        }
    }

    /// Returns an event. `index` is below the number that the last ``wait(milliseconds:)`` returned.
    @inline(__always)
    func event(_ index: Int) -> (token: Token, readiness: Readiness) {
        let event = unsafe events + index
        return unsafe (
            Token(packed: uncurl_event_data(event)), Readiness(rawValue: uncurl_event_mask(event))
        )
    }
}

/// The events that epoll reports of a socket.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, the end, or a connection to accept.
    public static let readable = Readiness(rawValue: uncurl_EPOLLIN)
    /// There is room to send, or a connect has ended.
    public static let writable = Readiness(rawValue: uncurl_EPOLLOUT)
    /// The peer has sent its FIN; bytes may still wait before it.
    public static let peerFinished = Readiness(rawValue: uncurl_EPOLLRDHUP)
    /// Both directions have ended.
    public static let hungUp = Readiness(rawValue: uncurl_EPOLLHUP)
    /// An error waits in SO_ERROR (or comes out of the next read).
    public static let failed = Readiness(rawValue: uncurl_EPOLLERR)
    /// ``EventLoop/reschedule(_:)`` asked for it: it is no event of the kernel's, but work left over from the last
    /// turn.
    public static let rescheduled = Readiness(rawValue: 1 << 30)
}

/// Hears that a registered socket is ready. Called on the loop.
public protocol ReadinessHandler: AnyObject {
    /// Reports an event of the socket, or that ``EventLoop/reschedule(_:)`` was called for it. The handler may
    /// deregister itself within the call.
    func ready(_ readiness: Readiness)
}

/// The events that a registration asks epoll for. HUP and ERR are always reported; they cannot be masked.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Wait for bytes.
    public static let read = Interest(rawValue: uncurl_EPOLLIN)
    /// Wait for room to send.
    public static let write = Interest(rawValue: uncurl_EPOLLOUT)
    /// Wait for the peer's FIN. It is level-triggered, so a paused reader whose peer has finished must drop it too, or
    /// the loop spins.
    public static let peerFinish = Interest(rawValue: uncurl_EPOLLRDHUP)
    /// For the mailbox alone: each write is an edge, so its counter is never read.
    static let edgeTriggeredRead = Interest(rawValue: uncurl_EPOLLIN | 1 << 31)
}

/// Names a registration: a slot, and the generation that tells its present holder from earlier ones.
///
/// A look-up by descriptor would give an event for a closed socket to the one that got its number in the same batch; a
/// stale token finds no handler.
public struct Token: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(packed: UInt64) {
        slot = UInt32(truncatingIfNeeded: packed)
        generation = UInt32(truncatingIfNeeded: packed >> 32)
    }

    var packed: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
