import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Family memory", .ownThread)
struct FamilyMemoryTests {
    private let start = Instant(nanoseconds: 1)

    @Test("a winner is remembered for ten minutes")
    func lifetime() {
        let memory = Resolver()
        #expect(memory.winner(of: "a", now: start) == nil)
        memory.remember(.v4, for: "a", now: start)
        #expect(memory.winner(of: "a", now: start.advanced(by: .seconds(599))) == .v4)
        #expect(memory.winner(of: "b", now: start) == nil)
        #expect(memory.winner(of: "a", now: start.advanced(by: .seconds(600))) == nil)
    }

    @Test("hosts without end do not grow it without end, and the newest is kept")
    func bounded() {
        let memory = Resolver()
        for index in 0..<1_000 { memory.remember(.v6, for: "host\(index)", now: start) }
        let kept = (0..<1_000).filter { memory.winner(of: "host\($0)", now: start) != nil }
        #expect(kept.count <= Resolver.maximumWinners)
        #expect(kept.last == 999)
    }
}
