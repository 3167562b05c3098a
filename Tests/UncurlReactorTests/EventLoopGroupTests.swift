import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Loop group", .ownThread)
struct EventLoopGroupTests {
    @Test("loops are handed out in turn, each on a thread of its own")
    func rotation() throws {
        let group = try EventLoopGroup(count: 3)
        let handed = (0..<6).map { _ in ObjectIdentifier(group.nextLoop()) }
        #expect(Set(handed).count == 3)
        #expect(Array(handed[..<3]) == Array(handed[3...]))
        let current = Shared<[Int]>([])
        for (index, loop) in group.loops.enumerated() {
            loop.post {
                current.change { $0 += group.loops.indices.filter { group.loops[$0].isCurrent && $0 == index } }
            }
        }
        #expect(current.wait { $0.count == 3 })
        #expect(Set(current.value) == [0, 1, 2])
        group.shutdown()
    }

    @Test("at least one loop, whatever was asked for")
    func atLeastOne() throws {
        let group = try EventLoopGroup(count: -5)
        #expect(group.loops.count == 1)
        group.shutdown()
    }

    @Test("shutdown delivers what was posted, and may be repeated")
    func shutdown() throws {
        let group = try EventLoopGroup(count: 2)
        let delivered = Shared(0)
        for loop in group.loops { for _ in 0..<100 { loop.post { delivered.change { $0 += 1 } } } }
        group.shutdown()
        #expect(delivered.value == 200)
        group.shutdown()
        #expect(group.loops.allSatisfy { !$0.post {} })
    }

    @Test("a group that is dropped ends its loops")
    func dropped() throws {
        let loops = try EventLoopGroup(count: 2).loops
        #expect(Eventually.holds { loops.allSatisfy { !$0.post {} } })
    }
}
