internal import CLinux

/// The epoll set: registration, changes, and one batch of events a turn.
///
/// Level-triggered. Measured, both triggers end at two system calls a request; levels make the
/// "short read means drained" shortcut safe without latching RDHUP (ARCHITECTURE.md, Measured).
@safe struct Poller: ~Copyable {
    /// Events taken per wait: large enough that a busy loop waits once a few hundred events.
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
        _ = try callingOnce(.epollAdd) {
            uncurl_epoll_ctl(epoll.number, EPOLL_CTL_ADD, fd, interest.rawValue, token.packed)
        }
    }

    func change(_ fd: CInt, _ interest: Interest, _ token: Token) throws(Errno) {
        _ = try callingOnce(.epollModify) {
            uncurl_epoll_ctl(epoll.number, EPOLL_CTL_MOD, fd, interest.rawValue, token.packed)
        }
    }

    /// Before the close, always: a description shared with a forked child would go on reporting for ever.
    func remove(_ fd: CInt) {
        _ = uncurl_epoll_ctl(epoll.number, EPOLL_CTL_DEL, fd, 0, 0)
    }

    /// Waits for at most `milliseconds` (-1: no limit) and says how many events lie ready for ``event(_:)``.
    /// A signal counts as no event: the turn then computes its timeout anew.
    func wait(milliseconds: CInt) throws(Errno) -> Int {
        do throws(Errno) {
            let count = try callingOnce(.epollWait) {
                unsafe epoll_wait(epoll.number, events, CInt(Poller.batch), milliseconds)
            }
            return Int(count)
        } catch .interrupted {
            return 0
        }
    }

    /// How many events lie ready for ``event(_:)`` now; nil if that cannot be told.
    func look() -> Int? {
        let count = try? callingOnce(.epollWait) { unsafe epoll_wait(epoll.number, events, CInt(Poller.batch), 0) }
        return count.map(Int.init)
    }

    /// As ``wait(milliseconds:)`` with a sharper clock, for at most `nanoseconds`.
    func wait(nanoseconds: Int64) throws(Errno) -> Int {
        do throws(Errno) {
            let count = try callingOnce(.epollWait) {
                unsafe uncurl_epoll_wait_ns(epoll.number, events, CInt(Poller.batch), nanoseconds)
            }
            return Int(count)
        } catch .interrupted {
            return 0
        }
    }

    /// `index` lies below what the last ``wait(milliseconds:)`` returned.
    @inline(__always)
    func event(_ index: Int) -> (token: Token, readiness: Readiness) {
        let event = unsafe events + index
        return unsafe (
            Token(packed: uncurl_event_data(event)), Readiness(rawValue: uncurl_event_mask(event))
        )
    }
}
