internal import CUncurlLinux
internal import Synchronization

/// The messages of other threads for a loop, and the eventfd that wakes it.
///
/// A post wakes the loop only if no other has since the loop last looked (with 32 concurrent callers, 0.07–0.18
/// wake-ups a request were measured), and never from the loop's own thread. The eventfd is registered edge-triggered,
/// so the loop never reads it: each write is a new edge. It lives as long as the mailbox, that is until the last handle
/// to the loop is released, so no writer meets a closed or reused descriptor.
final class Mailbox: Sendable {
    enum Message {
        case call(@Sendable () -> Void)
        case job(UnownedJob)
    }

    private struct State {
        var messages: [Message] = []
        var closed = false
    }

    let wakeup: OwnedFD
    /// The loop's thread; 0 for none. `pthread_self` is an address on glibc, never 0.
    private let thread = Atomic<UInt>(0)
    private let state = Mutex(State())
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
}
