import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Loop thread", .ownThread)
struct LoopThreadTests {
    @Test("a thread runs its body with signals blocked, and join waits for it")
    func runs() throws {
        let blocked = Shared(false)
        let thread = try LoopThread(name: "a name longer than fifteen bytes") {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            let isBlocked = sigismember(&mask, SIGINT) == 1
            blocked.change { $0 = isBlocked }
        }
        thread.join()
        #expect(blocked.value)
        thread.join()
    }
}
