import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Connect errors", .ownThread)
struct ConnectErrorTests {
    private func error(_ errnos: Errno...) -> ConnectError {
        ConnectError(
            attempts: errnos.map { ConnectError.Attempt(address: .loopback(port: 1), errno: $0) },
            resolution: nil
        )
    }

    @Test("a refusal says more than a family this machine does not speak")
    func mostTelling() {
        #expect(error(.networkUnreachable, .connectionRefused).errno == .connectionRefused)
        #expect(error(.addressNotAvailable, .connectionRefused).errno == .connectionRefused)
        #expect(error(.timedOut, .connectionRefused).errno == .timedOut)
        #expect(error(.networkUnreachable).errno == .networkUnreachable)
        #expect(error().errno == nil)
    }

    @Test("our own shortages are seen whatever else failed")
    func shortages() {
        #expect(error(.connectionRefused, .tooManyOpenFiles).isResourceExhaustion)
        #expect(!error(.connectionRefused).isResourceExhaustion)
        #expect(error(.addressNotAvailable).isPortExhaustion)
        #expect(!error(.addressNotAvailable, .connectionRefused).isPortExhaustion)
    }

    @Test("the text names every attempt")
    func description() {
        #expect(error(.connectionRefused).description == "127.0.0.1:1: Connection refused (ECONNREFUSED)")
        #expect(ConnectError(attempts: [], resolution: .noSuchHost).description == "no such host")
        #expect(error().description == "no address to connect to")
    }
}
