#if DEBUG
internal import CUncurlLinux
internal import UncurlText

/// The faults that the system calls of one loop get: a full socket, a byte at a time, a storm of signals, an errno at
/// the k-th call. Tests torture a loop with it; a release build has neither the plan nor the check for one.
///
/// It applies to every call that the loop's own thread makes (``SystemCall``), through any layer: a TLS session reads
/// and writes through the same sockets. Other loops of the process, for instance a test's server, are not affected. It
/// is made, installed (``EventLoop/faults``) and read on the loop's thread.
///
/// A call that is made to fail never reaches the kernel. But an error that means the end of a connection ends it: the
/// kernel reports that end to every later call, and the plan must do so too. An injected EAGAIN leaves the socket
/// ready, so epoll reports it again and the loop spins: chances are kept below one, so that such a run ends.
public final class FaultPlan {
    /// A call that always fails.
    public struct Failure: Sendable {
        /// The number of the call, from 1; counted among those of `kind` if there is one.
        public var call: Int
        /// Which calls are counted; nil for all.
        public var kind: SystemCall?
        /// The error of the call.
        public var errno: Errno
        /// Whether every later call fails too.
        public var lasts: Bool

        /// Makes a failure of the call of that number, counted from 1.
        ///
        /// - Parameters:
        ///   - call: its number, from 1, among those of the kind.
        ///   - kind: nil counts calls of every kind.
        ///   - errno: the error of the call.
        ///   - lasts: whether the calls after it fail too.
        public init(call: Int, of kind: SystemCall? = nil, with errno: Errno, lasts: Bool = false) {
            self.call = call
            self.kind = kind
            self.errno = errno
            self.lasts = lasts
        }
    }

    /// Above this chance, a call that is refused again and again would take a test's whole time.
    private static let highestPercent: UInt64 = 95

    /// In how many of a hundred cases a send, a receive or an accept finds nothing to do (EAGAIN); 95 at most.
    public var blockPercent: UInt64 = 0
    /// In how many of a hundred cases a call that can be interrupted is (EINTR); 95 at most.
    public var interruptPercent: UInt64 = 0
    /// The most that one send or receive moves.
    public var maximumBytes = Int.max
    /// The failures that are planned.
    public var failures: [Failure]

    /// How many calls were made so far, those made to fail included.
    public private(set) var calls = 0
    /// How many calls of each kind have been made.
    public private(set) var callsByKind: [SystemCall: Int] = [:]
    /// How many calls met one of ``failures``.
    public private(set) var failed = 0
    /// The descriptors opened on this thread since the plan was made, and neither closed nor given away.
    public private(set) var descriptors: Set<CInt> = []
    private var random: UInt64

    /// Makes a plan of given failures.
    ///
    /// - Parameters:
    ///   - seed: decides what is random; the same seed gives the same run.
    ///   - failures: the failures that are certain.
    public init(seed: UInt64 = 0, failures: [Failure] = []) {
        random = seed
        self.failures = failures
    }

    /// The plan of the calling thread.
    @safe static var current: FaultPlan? {
        guard let plan = unsafe uncurl_thread_faults() else { return nil }
        return unsafe Unmanaged<FaultPlan>.fromOpaque(plan).takeUnretainedValue()
    }

    /// Installs a plan. The loop holds the plan; the thread only points to it.
    static func install(_ plan: FaultPlan?) {
        unsafe uncurl_set_thread_faults(plan.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    }

    /// - Parameter descriptor: a connection, which ends if the error means its end.
    func strike(_ kind: SystemCall, on descriptor: CInt? = nil) -> Errno? {
        let error = decide(kind)
        if let error, error.isPeerClosure, let descriptor { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
        return error
    }

    private func decide(_ kind: SystemCall) -> Errno? {
        calls += 1
        let ofKind = callsByKind[kind, default: 0] + 1
        callsByKind[kind] = ofKind
        for failure in failures where failure.kind == nil || failure.kind == kind {
            let call = failure.kind == nil ? calls : ofKind
            guard failure.lasts ? call >= failure.call : call == failure.call else { continue }
            failed += 1
            // This is its only error on a set of one's own (epoll_wait(2)); a loop could not go on after another one.
            return kind == .epollWait ? .interrupted : failure.errno
        }
        if FaultPlan.interruptible.contains(kind), comes(interruptPercent) { return .interrupted }
        if FaultPlan.blocking.contains(kind), comes(blockPercent) { return .wouldBlock }
        return nil
    }

    func opened(_ descriptor: CInt) { descriptors.insert(descriptor) }
    func closed(_ descriptor: CInt) { descriptors.remove(descriptor) }

    private static let interruptible: Set<SystemCall> = [.connect, .accept, .send, .receive, .sendFile, .epollWait]
    private static let blocking: Set<SystemCall> = [.accept, .send, .receive, .sendFile]

    /// Decides by SplitMix64: the same faults for the same seed.
    private func comes(_ percent: UInt64) -> Bool {
        guard percent > 0 else { return false }
        random &+= splitMix64Step
        return splitMix64(random) % 100 < min(percent, FaultPlan.highestPercent)
    }
}
#endif
