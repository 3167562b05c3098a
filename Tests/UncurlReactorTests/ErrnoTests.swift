import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Error numbers", .ownThread)
struct ErrnoTests {
    @Test("an error number prints its text and its symbol")
    func description() {
        #expect(Errno.connectionRefused.description == "Connection refused (ECONNREFUSED)")
        #expect(Errno(code: 9_999).description == "errno 9999")
    }

    @Test("our own shortages are told from the peer's doings")
    func kinds() {
        #expect(Errno.tooManyOpenFiles.isResourceExhaustion)
        #expect(Errno.noBufferSpace.isResourceExhaustion)
        #expect(!Errno.connectionRefused.isResourceExhaustion)
        #expect(Errno.connectionReset.isPeerClosure)
        #expect(Errno.brokenPipe.isPeerClosure)
        #expect(!Errno.timedOut.isPeerClosure)
    }
}
