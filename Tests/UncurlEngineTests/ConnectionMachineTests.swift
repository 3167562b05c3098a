import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

@Suite("Connection machine")
struct ConnectionMachineTests {
    private typealias Machine = ConnectionMachine

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func seconds(_ count: Int64) -> Int64 { count * 1_000_000_000 }

    /// Opened at 100 s, to be used for 600 s.
    private func machine() -> Machine { Machine(opened: at(100), now: at(100), maximumAge: seconds(600)) }

    private func busy() -> Machine {
        var machine = machine()
        machine.leased()
        return machine
    }

    private func closed() -> Machine {
        var machine = machine()
        _ = machine.closed()
        return machine
    }

    private func hint(_ text: String) throws -> KeepAliveHint {
        var fields = HTTPFields()
        try fields.append("Keep-Alive", text)
        return try #require(KeepAliveHint(fields))
    }

    // MARK: News of the socket

    @Test(
        "an idle connection without TLS ends with any event, except one that an earlier exchange has asked the loop for"
    )
    func idle() {
        let table: [(Readiness, Machine.Reaction)] = [
            (.readable, .close),
            ([.readable, .peerFinished], .close),
            ([.peerFinished, .hungUp], .close),
            (.failed, .close),
            (.writable, .close),
            (.rescheduled, []),
            ([.rescheduled, .readable], .close),
        ]
        for (readiness, reaction) in table {
            var machine = machine()
            let heard = machine.heard(readiness, isSecure: false)
            #expect(heard == reaction, "\(readiness)")
            #expect(machine.state == .idle(since: at(100)))
        }
    }

    @Test("an idle connection over TLS reads what came, sends its answers, and ends with its peer")
    func idleSecure() {
        let table: [(Readiness, Machine.Reaction)] = [
            (.readable, .readNews),
            (.writable, .flush),
            ([.readable, .writable], [.flush, .readNews]),
            ([.readable, .peerFinished], .close),
            ([.writable, .hungUp], [.flush, .close]),
            (.failed, .close),
            (.rescheduled, []),
        ]
        for (readiness, reaction) in table {
            var machine = machine()
            let heard = machine.heard(readiness, isSecure: true)
            #expect(heard == reaction, "\(readiness)")
        }
    }

    @Test(
        "a busy connection sends where there is room, reads what came, and knows that its peer has finished",
        arguments: [false, true]
    )
    func busy(isSecure: Bool) {
        let table: [(Readiness, Machine.Reaction, peerFinished: Bool)] = [
            (.readable, .receive, false),
            (.writable, [.flush, .send], false),
            (.rescheduled, [.send, .receive], false),
            ([.readable, .writable], [.flush, .send, .receive], false),
            ([.readable, .peerFinished], .receive, true),
            ([.readable, .peerFinished, .hungUp], [.receive, .broken], true),
            (.failed, [.receive, .broken], false),
        ]
        for (readiness, reaction, peerFinished) in table {
            var machine = busy()
            let heard = machine.heard(readiness, isSecure: isSecure)
            #expect(heard == reaction, "\(readiness)")
            #expect(machine.peerFinished == peerFinished, "\(readiness)")
        }
    }

    @Test("a closed connection does nothing about late news, and closes once")
    func over() {
        var machine = closed()
        let heard = machine.heard([.readable, .writable, .hungUp, .rescheduled], isSecure: false)
        #expect(heard == [])
        let closesAgain = machine.closed()
        #expect(!closesAgain)
        #expect(machine.idleTimeLeft(at: at(1_000), idleLimit: 1) == nil)
        #expect(!machine.isFresh(at: at(100), idleLimit: seconds(60)))
    }

    // MARK: How long it lives

    @Test("an idle connection is fresh until the idle limit or its greatest age, whichever comes first")
    func freshness() {
        let table: [(parked: Int64, now: Int64, limit: Int64, isFresh: Bool)] = [
            (100, 100, 60, true), (100, 159, 60, true), (100, 160, 60, false), (100, 100, 0, false),
            (690, 700, 60, true), (690, 701, 60, false), (100, 700, 1_000, true), (100, 701, 1_000, false),
        ]
        for row in table {
            var machine = busy()
            #expect(!machine.isFresh(at: at(100), idleLimit: seconds(60)))
            machine.parked(at: at(row.parked))
            #expect(machine.isFresh(at: at(row.now), idleLimit: seconds(row.limit)) == row.isFresh, "\(row)")
        }
    }

    @Test("the timer of an idle connection finds it expired, or younger than it knew, and a busy one is left alone")
    func idleTimer() {
        var machine = machine()
        #expect(machine.idleTimeLeft(at: at(130), idleLimit: seconds(60)) == seconds(30))
        #expect(machine.idleTimeLeft(at: at(160), idleLimit: seconds(60)) == 0)
        machine.leased()
        #expect(machine.idleTimeLeft(at: at(160), idleLimit: seconds(60)) == nil)
        machine.parked(at: at(150))
        #expect(machine.idleTimeLeft(at: at(160), idleLimit: seconds(60)) == seconds(50))
    }

    @Test(
        "a server's hint shortens what a connection may idle, less a second for the request to travel, and a later hint replaces it"
    )
    func hints() throws {
        let table: [(hint: String, limit: Int64, isShorter: Bool)] = [
            ("timeout=5", 4, true), ("timeout=1", 0, true), ("timeout=120", 60, true), ("max=3", 60, false),
        ]
        for row in table {
            var machine = busy()
            let isShorter = machine.heard(try hint(row.hint))
            #expect(isShorter == row.isShorter, "\(row)")
            #expect(machine.idleLimit(seconds(60)) == seconds(row.limit), "\(row)")
        }
        var machine = busy()
        let shortened = [
            machine.heard(try hint("timeout=5")), machine.heard(try hint("timeout=5")),
            machine.heard(try hint("timeout=9")),
        ]
        #expect(shortened == [true, false, false])
        #expect(machine.idleLimit(seconds(60)) == seconds(8))
    }

    @Test(
        "another exchange follows a response that keeps the connection, unless peer, hints, count or age are against it"
    )
    func reuse() throws {
        typealias Change = (inout Machine) throws -> Void
        let hint = hint
        let table: [(String, Persistence, now: Int64, limit: Int, mayServe: Bool, Change)] = [
            ("as it is", .keepAlive, 100, 10, true, { _ in }),
            ("the response closes", .close, 100, 10, false, { _ in }),
            ("another protocol", .upgraded, 100, 10, false, { _ in }),
            ("the peer has finished", .keepAlive, 100, 10, false, { $0.peerEnded() }),
            ("a FIN was announced", .keepAlive, 100, 10, false, { _ = $0.heard(.peerFinished, isSecure: false) }),
            ("the last by count", .keepAlive, 100, 1, false, { _ in }),
            ("one before the last", .keepAlive, 100, 2, true, { _ in }),
            ("too old", .keepAlive, 701, 10, false, { _ in }),
            ("the hint allows none", .keepAlive, 100, 10, false, { _ = $0.heard(try hint("max=0")) }),
            ("the hint allows one", .keepAlive, 100, 10, true, { _ = $0.heard(try hint("max=1")) }),
            ("the hint's time is over at once", .keepAlive, 100, 10, false, { _ = $0.heard(try hint("timeout=1")) }),
        ]
        for (name, persistence, now, limit, mayServe, change) in table {
            var machine = busy()
            try change(&machine)
            #expect(machine.mayServeAnother(after: persistence, at: at(now), limit: limit) == mayServe, "\(name)")
        }
    }

    @Test("each lease uses up one of the exchanges that the server's hint allows")
    func hintedExchanges() throws {
        var machine = busy()
        _ = machine.heard(try hint("max=2"))
        #expect(machine.mayServeAnother(after: .keepAlive, at: at(100), limit: 10))
        #expect(!machine.isReused)
        for mayServe in [true, false] {
            machine.parked(at: at(101))
            machine.leased()
            #expect(machine.isReused)
            #expect(machine.mayServeAnother(after: .keepAlive, at: at(101), limit: 10) == mayServe)
        }
    }

    @Test("connections opened at once end at different times, each within the spread of ages")
    func ages() {
        let spread = seconds(60)
        let discounts = (0..<1_000).map { Machine.ageDiscount(number: $0, spread: spread) }
        #expect(discounts.allSatisfy { (0..<spread).contains($0) })
        #expect(Set(discounts).count == 1_000)
        // Each tenth of the spread has about a tenth of them.
        for tenth in 0..<10 {
            let range = (spread / 10 * Int64(tenth))..<(spread / 10 * Int64(tenth + 1))
            #expect((90...110).contains(discounts.count { range.contains($0) }))
        }
        #expect(Machine.ageDiscount(number: 7, spread: 0) == 0)
    }
}
