import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Connect race", .ownThread)
struct ConnectRaceTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let six = (1...3).map { SocketAddress.v6(IPv6Address(high: 1, low: $0), port: 80) }
    private let four = (1...3).map { SocketAddress.v4(IPv4Address(bits: $0), port: 80) }

    private func at(_ milliseconds: Int64) -> Instant { start.advanced(byNanoseconds: milliseconds * 1_000_000) }

    private func race(preferring family: IPAddress.Family = .v6) -> ConnectRace {
        ConnectRace(Connector.Options(), preferring: family, expecting: [.v4, .v6])
    }

    @Test("the preferred family's answer starts the race at once")
    func preferredFirst() {
        var race = race()
        #expect(race.next(now: at(0)) == .wait(until: nil))
        race.answered(.v6, six, now: at(5))
        #expect(race.next(now: at(5)) == .attempt(six[0]))
    }

    @Test("an A answer waits 50 ms for AAAA, then goes ahead (RFC 8305 §3)")
    func resolutionDelay() {
        var race = race()
        race.answered(.v4, four, now: at(5))
        #expect(race.next(now: at(5)) == .wait(until: at(55)))
        #expect(race.next(now: at(54)) == .wait(until: at(55)))
        #expect(race.next(now: at(55)) == .attempt(four[0]))
    }

    @Test("an AAAA answer within the delay goes first")
    func lateButInTime() {
        var race = race()
        race.answered(.v4, four, now: at(0))
        race.answered(.v6, six, now: at(20))
        #expect(race.next(now: at(20)) == .attempt(six[0]))
    }

    @Test("a race does not wait for a family that has already said that it has nothing", arguments: [true, false])
    func emptyFamily(emptyFirst: Bool) {
        var race = race()
        if emptyFirst { race.answered(.v6, [], now: at(0)) }
        race.answered(.v4, four, now: at(1))
        if !emptyFirst { race.answered(.v6, [], now: at(2)) }
        #expect(race.next(now: at(2)) == .attempt(four[0]))
    }

    @Test("the families take turns (§4)")
    func interleaving() {
        var race = race()
        race.answered(.v6, six, now: at(0))
        race.answered(.v4, four, now: at(0))
        var order: [SocketAddress] = []
        while case .attempt(let address) = race.next(now: at(0)) {
            order.append(address)
            race.attemptFailed()
        }
        #expect(order == [six[0], four[0], six[1], four[1], six[2], four[2]])
        #expect(race.next(now: at(0)) == .lost)
    }

    @Test("addresses that come late take their turn among those left")
    func lateAnswer() {
        var race = race()
        race.answered(.v6, six, now: at(0))
        #expect(race.next(now: at(0)) == .attempt(six[0]))
        race.answered(.v4, four, now: at(100))
        race.attemptFailed()
        #expect(race.next(now: at(100)) == .attempt(four[0]))
    }

    @Test("a family that won before goes first, and its answer is the one that is waited for")
    func preferredByMemory() {
        var race = race(preferring: .v4)
        race.answered(.v6, six, now: at(0))
        #expect(race.next(now: at(0)) == .wait(until: at(50)))
        race.answered(.v4, four, now: at(10))
        #expect(race.next(now: at(10)) == .attempt(four[0]))
    }

    @Test("the next attempt begins 250 ms after the last, and the last goes on (§5)")
    func attemptDelay() {
        var race = ConnectRace(Connector.Options(), addresses: Array(four.prefix(2)))
        #expect(race.next(now: at(0)) == .attempt(four[0]))
        #expect(race.next(now: at(0)) == .wait(until: at(250)))
        #expect(race.next(now: at(250)) == .attempt(four[1]))
        #expect(race.active == 2)
        #expect(race.next(now: at(250)) == .wait(until: nil))
    }

    @Test("a failure begins the next attempt at once, and only one")
    func failureHurries() {
        var race = ConnectRace(Connector.Options(), addresses: four)
        _ = race.next(now: at(0))
        _ = race.next(now: at(250))
        race.attemptFailed()
        #expect(race.next(now: at(260)) == .attempt(four[2]))
        #expect(race.next(now: at(260)) == .wait(until: nil))
    }

    @Test("IPv6 hangs and IPv4 takes 400 ms: both are still being tried at 650 ms")
    func slowBoth() {
        var race = race()
        race.answered(.v6, [six[0]], now: at(0))
        race.answered(.v4, [four[0]], now: at(0))
        #expect(race.next(now: at(0)) == .attempt(six[0]))
        #expect(race.next(now: at(250)) == .attempt(four[0]))
        #expect(race.next(now: at(650)) == .wait(until: nil))
        #expect(race.active == 2)
    }

    @Test("while a look-up is open, failed attempts do not lose the race")
    func openLookup() {
        var race = race()
        race.answered(.v6, [six[0]], now: at(0))
        _ = race.next(now: at(0))
        race.attemptFailed()
        #expect(race.next(now: at(1)) == .wait(until: nil))
        race.answered(.v4, [], now: at(2))
        #expect(race.next(now: at(2)) == .lost)
    }

    @Test("64 addresses: no more than 16 are tried, and no more than 6 at once")
    func caps() {
        let many = (1...64).map { SocketAddress.v4(IPv4Address(bits: $0), port: 80) }
        var race = ConnectRace(Connector.Options(), addresses: many)
        var now: Int64 = 0
        while case .attempt = race.next(now: at(now)) { now += 250 }
        #expect(race.active == 6)
        #expect(race.next(now: at(now)) == .wait(until: nil))
        while race.active > 0 {
            race.attemptFailed()
            _ = race.next(now: at(now))
        }
        #expect(race.attempts == 16)
        #expect(race.next(now: at(now)) == .lost)
    }

    @Test("an attempt the kernel puts off is made again, and not counted twice")
    func postponed() {
        var options = Connector.Options()
        options.maximumAttempts = 1
        var race = ConnectRace(options, addresses: [four[0]])
        _ = race.next(now: at(0))
        race.attemptPostponed(four[0], until: at(10))
        #expect(race.next(now: at(0)) == .wait(until: at(10)))
        #expect(race.next(now: at(10)) == .attempt(four[0]))
        #expect(race.attempts == 1)
    }

    @Test("after giving up the rest, what is under way may still win")
    func givingUp() {
        var race = ConnectRace(Connector.Options(), addresses: four, expecting: [.v6])
        _ = race.next(now: at(0))
        race.giveUpRest()
        #expect(race.next(now: at(900)) == .wait(until: nil))
        race.attemptFailed()
        #expect(race.next(now: at(900)) == .lost)
    }

    @Test("without addresses there is no race")
    func nothing() {
        var race = ConnectRace(Connector.Options())
        #expect(race.next(now: at(0)) == .lost)
    }
}
