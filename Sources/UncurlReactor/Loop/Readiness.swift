internal import CUncurlLinux

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
