import Testing
import UncurlReactor

@testable import UncurlEngine

@Suite("Servers that close right after an answer")
struct ClosingServersTests {
    private func destination(_ port: UInt16) throws -> Destination { Destination(try origin(port)) }
    private func seconds(_ count: Double) -> Instant { Instant(nanoseconds: Int64(count * 1e9)) }

    @Test("a close within a second of the answer counts, for a minute; a later close does not")
    func memory() throws {
        var servers = ClosingServers()
        #expect(servers.isEmpty)
        servers.note(try destination(1), answered: seconds(10), now: seconds(11))
        #expect(servers.isEmpty)
        servers.note(try destination(1), answered: seconds(10), now: seconds(10.9))
        #expect(servers.mayClose(try destination(1), answered: seconds(70), now: seconds(70.8)))
        #expect(!servers.mayClose(try destination(1), answered: seconds(70), now: seconds(70.95)))
        #expect(!servers.mayClose(try destination(2), answered: seconds(70), now: seconds(70.8)))
    }

    @Test("a connection that has rested for a second after its answer is trusted")
    func rest() throws {
        var servers = ClosingServers()
        servers.note(try destination(1), answered: seconds(10), now: seconds(10))
        #expect(servers.mayClose(try destination(1), answered: seconds(20), now: seconds(20.9)))
        #expect(!servers.mayClose(try destination(1), answered: seconds(20), now: seconds(21)))
    }

    @Test("the table has a limit, beyond which it starts again")
    func limit() throws {
        var servers = ClosingServers()
        for port in 1...UInt16(1_025) { servers.note(try destination(port), answered: seconds(1), now: seconds(1)) }
        #expect(!servers.mayClose(try destination(1), answered: seconds(2), now: seconds(2)))
        #expect(servers.mayClose(try destination(1_025), answered: seconds(2), now: seconds(2)))
    }
}
