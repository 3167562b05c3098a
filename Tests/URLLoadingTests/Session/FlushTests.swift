import Foundation
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Flushing a session", .timeLimit(.minutes(5)))
struct FlushTests {
    @Test("a task after a flush has a new connection, and one under way keeps its own to its end")
    func flushed() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        let small = try url(server.url("/bytes/10"))
        for _ in 0..<2 { #expect(try await session.data(from: small).0.count == 10) }
        #expect(server.connectionsAccepted == 1)
        await session.flush()
        #expect(try await session.data(from: small).0.count == 10)
        #expect(server.connectionsAccepted == 2)
        // More than the buffers hold: the connection is busy until its content is read.
        let (bytes, _) = try await session.bytes(from: url(server.url("/bytes/20000000")))
        await session.flush()
        var count = 0
        for try await _ in bytes { count += 1 }
        #expect(count == 20_000_000 && server.connectionsAccepted == 2)
        #expect(try await session.data(from: small).0.count == 10)
        #expect(server.connectionsAccepted == 3)
    }

    @Test("a session that has loaded nothing calls the handler of a flush")
    func unused() async { await URLSession(configuration: .isolated).flush() }
}
