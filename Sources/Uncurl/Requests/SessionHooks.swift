internal import Dispatch
internal import Synchronization
public import URLLoading
internal import UncurlLibC

/// Closures for events of the whole session, called on its delegate queue.
public struct SessionHooks: Sendable {
    /// The session is closed. The error is nil where the program closed it.
    public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    /// Answers a challenge of the session. Without this closure, or with ``ChallengeAnswer/performDefaultHandling``,
    /// the hook of the waiting task answers, then the policy. The closure may take as long as the longest time limit of
    /// the tasks that wait for the server.
    public var didReceiveChallenge: (@Sendable (URLSession, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// A background session has reported everything that happened while the program did not run.
    public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?

    /// No hooks.
    public init() {}
}

/// A hook's answer to a challenge.
@frozen public enum ChallengeAnswer: Sendable {
    /// The challenge is handled as if there were no hook: the manager's security policy judges a server's trust, and
    /// the session's own rules answer any other challenge.
    case performDefaultHandling
    /// The credential is offered. For a server's trust it is `URLCredential(trust:)`.
    case useCredential(URLCredential)
    /// The server's next offer is tried, if there is one.
    case rejectProtectionSpace
    /// The task fails with ``UncurlError/cancelled``.
    case cancel
    /// The task fails with exactly this error, in ``UncurlError/challenge(_:)``.
    case fail(any Error)
}

extension ChallengeAnswer {
    /// The answer as it applies to this protection space. A server is trusted by a credential for trust, or by the
    /// policy. A name and a password, or no credential, do not decide on trust.
    func about(_ space: URLProtectionSpace) -> ChallengeAnswer {
        guard space.serverTrust != nil else { return self }
        switch self {
        case .useCredential(let credential) where credential.user == nil && credential.identity == nil: return self
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: return .performDefaultHandling
        case .cancel, .fail: return self
        }
    }

    /// The error that the task fails with; nil where it may continue.
    var refusal: UncurlError? {
        switch self {
        case .performDefaultHandling, .useCredential, .rejectProtectionSpace: nil
        case .cancel: .cancelled
        case .fail(let error): .challenge(error)
        }
    }
}

/// Bytes that a task has just sent, or has just written to a file.
public struct TransferredBytes: Hashable, Sendable {
    /// The number of bytes since the last call.
    public let count: Int64
    /// The number of bytes so far.
    public let total: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ count: Int64, _ total: Int64, of expected: Int64) {
        (self.count, self.total) = (count, total)
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Where a resumed download continues.
public struct ResumedOffset: Hashable, Sendable {
    /// The number of bytes that earlier attempts have loaded.
    public let offset: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ offset: Int64, of expected: Int64) {
        self.offset = offset
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Lets changes of a value take turns, each from its read to its write, so that none is lost.
///
/// A change within a change of the same thread does not wait. No lock of a thread serves here: between its read and its
/// write, a change may be suspended and continue on another thread.
final class ChangeTurns: Sendable {
    private let place = DispatchSemaphore(value: 1)
    /// The thread that has the turn; 0 for none.
    private let thread = Atomic<UInt>(0)

    /// - Returns: whether the turn begins here; false where the change happens within another one.
    func begin() -> Bool {
        let current = UInt(pthread_self())
        if thread.load(ordering: .relaxed) == current { return false }
        place.wait()
        thread.store(current, ordering: .relaxed)
        return true
    }

    /// - Parameter isOwn: what ``begin()`` returned.
    func end(_ isOwn: Bool) {
        guard isOwn else { return }
        thread.store(0, ordering: .relaxed)
        place.signal()
    }
}
