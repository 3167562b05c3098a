import Dispatch
import Testing

/// Runs each test on threads of its own. For tests that block (a child process, `RawServer.wait`, a loop on the test's
/// own thread, seconds of pure computing): Swift has one thread a core for all tasks, and tests beside them, or the
/// task whose doing they wait for, would get none for longer than their time limits allow.
public struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
    }

    /// Each job has a serial queue of Dispatch's: it gets a further thread at once where all others are blocked.
    private final class QueueExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedTaskExecutor()
            DispatchQueue(label: "test").async { [self] in
                job.runSynchronously(on: executor)
                withExtendedLifetime(self) {}
            }
        }
    }
}

extension Trait where Self == OwnThread {
    /// See ``OwnThread``.
    public static var ownThread: OwnThread { OwnThread() }
}
