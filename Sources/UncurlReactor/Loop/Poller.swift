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
        _ = try callingOnce(.epollAdd) {
            uncurl_epoll_ctl(epoll.number, EPOLL_CTL_ADD, fd, interest.rawValue, token.packed)
        }
    }

    func change(_ fd: CInt, _ interest: Interest, _ token: Token) throws(Errno) {
        _ = try callingOnce(.epollModify) {
            uncurl_epoll_ctl(epoll.number, EPOLL_CTL_MOD, fd, interest.rawValue, token.packed)
        }
    }

    /// Removes a socket. This must be done before the close: a description shared with a forked child would be reported
    /// for ever.
    func remove(_ fd: CInt) {
        _ = uncurl_epoll_ctl(epoll.number, EPOLL_CTL_DEL, fd, 0, 0)
    }

    /// Waits for at most `milliseconds` (-1: no limit) and returns how many events there are for ``event(_:)``. A
    /// signal counts as no event: the turn then computes its timeout anew.
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

    /// Returns how many events there are for ``event(_:)`` now; nil if that cannot be told.
    func look() -> Int? {
        let count = try? callingOnce(.epollWait) { unsafe epoll_wait(epoll.number, events, CInt(Poller.batch), 0) }
        return count.map(Int.init)
    }

    /// Waits as ``wait(milliseconds:)``, with a more precise clock, for at most `nanoseconds`.
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

    /// Returns an event. `index` is below the number that the last ``wait(milliseconds:)`` returned.
    @inline(__always)
    func event(_ index: Int) -> (token: Token, readiness: Readiness) {
        let event = unsafe events + index
        return unsafe (
            Token(packed: uncurl_event_data(event)), Readiness(rawValue: uncurl_event_mask(event))
        )
    }
}
