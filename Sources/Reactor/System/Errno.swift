internal import CLinux

/// A system call's error number, kept as the kernel gave it.
public struct Errno: Error, Hashable, Sendable {
    public let code: CInt

    public init(code: CInt) { self.code = code }

    /// The calling thread's `errno`; read it right after the call that failed.
    static var last: Errno { Errno(code: uncurl_errno()) }

    public static let interrupted = Errno(code: EINTR)
    public static let wouldBlock = Errno(code: EAGAIN)
    public static let inProgress = Errno(code: EINPROGRESS)
    public static let connectionRefused = Errno(code: ECONNREFUSED)
    public static let connectionReset = Errno(code: ECONNRESET)
    public static let connectionAborted = Errno(code: ECONNABORTED)
    public static let brokenPipe = Errno(code: EPIPE)
    public static let hostUnreachable = Errno(code: EHOSTUNREACH)
    public static let networkUnreachable = Errno(code: ENETUNREACH)
    public static let accessDenied = Errno(code: EACCES)
    public static let timedOut = Errno(code: ETIMEDOUT)
    public static let tooManyOpenFiles = Errno(code: EMFILE)
    public static let tooManyOpenFilesInSystem = Errno(code: ENFILE)
    public static let noBufferSpace = Errno(code: ENOBUFS)
    public static let outOfMemory = Errno(code: ENOMEM)
    public static let addressNotAvailable = Errno(code: EADDRNOTAVAIL)
    public static let addressInUse = Errno(code: EADDRINUSE)
    public static let noSuchFile = Errno(code: ENOENT)
    public static let noSpace = Errno(code: ENOSPC)
    public static let invalidArgument = Errno(code: EINVAL)
    public static let nameTooLong = Errno(code: ENAMETOOLONG)
    public static let notConnected = Errno(code: ENOTCONN)
    public static let familyNotSupported = Errno(code: EAFNOSUPPORT)

    /// The process or the system has run out of descriptors or socket memory: the attempt failed, the peer did not.
    public var isResourceExhaustion: Bool {
        switch self {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace, .outOfMemory: true
        default: false
        }
    }

    /// The peer ended the connection (RST, or a write after its FIN).
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
