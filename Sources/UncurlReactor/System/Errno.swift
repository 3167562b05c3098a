internal import CUncurlLinux

/// A system call's error number, kept as the kernel gave it.
public struct Errno: Error, Hashable, Sendable {
    /// The number in `errno.h`.
    public let code: CInt

    /// Makes an error from its number in `errno.h`.
    public init(code: CInt) { self.code = code }

    /// The calling thread's `errno`. Read it right after the call that failed.
    static var last: Errno { Errno(code: uncurl_errno()) }

    /// EINTR: a signal came first.
    public static let interrupted = Errno(code: EINTR)
    /// EAGAIN: there is nothing to read now, or no room to write.
    public static let wouldBlock = Errno(code: EAGAIN)
    /// EINPROGRESS: a connect goes on.
    public static let inProgress = Errno(code: EINPROGRESS)
    /// ECONNREFUSED: nothing listens at that address.
    public static let connectionRefused = Errno(code: ECONNREFUSED)
    /// ECONNRESET: the peer sent RST.
    public static let connectionReset = Errno(code: ECONNRESET)
    /// ECONNABORTED: the connection ended before it was accepted.
    public static let connectionAborted = Errno(code: ECONNABORTED)
    /// EPIPE: a write after the connection's end.
    public static let brokenPipe = Errno(code: EPIPE)
    /// EHOSTUNREACH: the host does not answer on its own network.
    public static let hostUnreachable = Errno(code: EHOSTUNREACH)
    /// ENETUNREACH: there is no route.
    public static let networkUnreachable = Errno(code: ENETUNREACH)
    /// EACCES: not permitted.
    public static let accessDenied = Errno(code: EACCES)
    /// ETIMEDOUT: the peer's kernel does not answer.
    public static let timedOut = Errno(code: ETIMEDOUT)
    /// EMFILE: the process has no descriptor left.
    public static let tooManyOpenFiles = Errno(code: EMFILE)
    /// ENFILE: the machine has no descriptor left.
    public static let tooManyOpenFilesInSystem = Errno(code: ENFILE)
    /// ENOBUFS: no memory for sockets.
    public static let noBufferSpace = Errno(code: ENOBUFS)
    /// ENOMEM: no memory in the kernel.
    public static let outOfMemory = Errno(code: ENOMEM)
    /// EADDRNOTAVAIL: no free local port, or no such local address.
    public static let addressNotAvailable = Errno(code: EADDRNOTAVAIL)
    /// EADDRINUSE: another socket uses it.
    public static let addressInUse = Errno(code: EADDRINUSE)
    /// ENOENT: nothing has that name.
    public static let noSuchFile = Errno(code: ENOENT)
    /// ENOSPC: the disk is full.
    public static let noSpace = Errno(code: ENOSPC)
    /// EINVAL: the call does not accept such a value.
    public static let invalidArgument = Errno(code: EINVAL)
    /// ENAMETOOLONG: a path or a part of it is too long.
    public static let nameTooLong = Errno(code: ENAMETOOLONG)
    /// ENOTCONN: the socket has no peer.
    public static let notConnected = Errno(code: ENOTCONN)
    /// EAFNOSUPPORT: this machine does not support the protocol.
    public static let familyNotSupported = Errno(code: EAFNOSUPPORT)

    /// Whether the process or the system has run out of descriptors or socket memory: the fault is not the peer's.
    public var isResourceExhaustion: Bool {
        switch self {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace, .outOfMemory: true
        default: false
        }
    }

    /// Whether the peer ended the connection (RST, or a write after its FIN).
    public var isPeerClosure: Bool {
        switch self {
        case .connectionReset, .brokenPipe, .connectionAborted, .notConnected: true
        default: false
        }
    }

    /// The symbol in `errno.h`, such as `ECONNREFUSED`.
    public var name: String {
        guard let name = unsafe uncurl_errno_name(code) else { return "errno \(code)" }
        return unsafe String(cString: name)
    }
}

extension Errno: CustomStringConvertible {
    /// For example `Connection refused (ECONNREFUSED)`.
    public var description: String {
        guard let text = unsafe uncurl_errno_text(code) else { return name }
        return unsafe "\(String(cString: text)) (\(name))"
    }
}
