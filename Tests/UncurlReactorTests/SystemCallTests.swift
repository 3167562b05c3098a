import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("System calls", .ownThread)
struct SystemCallTests {
    @Test("an interrupted call is repeated until it is not")
    func interrupts() throws {
        var calls = 0
        let result = try retryingInterrupts { () -> CInt in
            calls += 1
            errno = EINTR
            return calls < 4 ? -1 : 42
        }
        #expect(result == 42)
        #expect(calls == 4)
    }

    @Test("another error is thrown as it stands")
    func errors() {
        #expect(throws: Errno(code: EBADF)) {
            try retryingInterrupts { () -> CInt in
                errno = EBADF
                return -1
            }
        }
    }

    @Test("a call that must not be repeated is not, even after a signal")
    func once() {
        var calls = 0
        #expect(throws: Errno.interrupted) {
            try callingOnce {
                calls += 1
                errno = EINTR
                return -1
            }
        }
        #expect(calls == 1)
    }
}
