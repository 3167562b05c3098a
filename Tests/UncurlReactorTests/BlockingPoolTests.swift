import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Blocking pool", .ownThread)
struct BlockingPoolTests {
    @Test("work runs off the loop, what follows runs on it")
    func runThen() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let pool = BlockingPool(name: "test")
        let seen = Shared<[Bool]>([])
        let then: @Sendable (Bool) -> Void = { wasOnLoop in
            seen.change { $0 = [wasOnLoop, loop.isCurrent] }
            loop.stop()
        }
        try pool.run(on: loop, { loop.isCurrent }, then: then)
        bench.run()
        #expect(seen.value == [false, true])
    }

    @Test("a pool without work has no threads, and never more than its limit")
    func limit() throws {
        let pool = BlockingPool(name: "test", threads: 2)
        #expect(pool.threadCount == 0)
        let gate = Gate()
        let (running, tooMany, done) = (Shared(0), Shared(false), Shared(0))
        for _ in 0..<8 {
            try pool.run {
                running.change { $0 += 1 }
                gate.wait()
                if running.value > 2 { tooMany.change { $0 = true } }
                running.change { $0 -= 1 }
                done.change { $0 += 1 }
            }
        }
        #expect(running.wait { $0 == 2 })
        #expect(pool.threadCount == 2)
        gate.open()
        #expect(done.wait { $0 == 8 })
        #expect(!tooMany.value)
    }

    @Test("work starts in the order it came")
    func order() throws {
        let pool = BlockingPool(name: "test", threads: 1)
        let seen = Shared<[Int]>([])
        for index in 0..<100 { try pool.run { seen.change { $0.append(index) } } }
        #expect(seen.wait { $0.count == 100 })
        #expect(seen.value == Array(0..<100))
    }

    @Test("a full queue refuses, and takes again when there is room")
    func queueLimit() throws {
        let pool = BlockingPool(name: "test", threads: 1, queue: 2)
        let (gate, started, done) = (Gate(), Gate(), Shared(0))
        try pool.run {
            started.open()
            gate.wait()
        }
        #expect(started.wait())
        for _ in 0..<2 { try pool.run { done.change { $0 += 1 } } }
        #expect(throws: BlockingPool.Refusal.queueFull) { try pool.run {} }
        gate.open()
        #expect(done.wait { $0 == 2 })
        try pool.run { done.change { $0 += 1 } }
        #expect(done.wait { $0 == 3 })
    }

    @Test("idle threads end, and come back for new work")
    func idle() throws {
        let pool = BlockingPool(name: "test", threads: 3, idle: .milliseconds(1))
        let done = Shared(0)
        for round in 1...2 {
            for _ in 0..<3 { try pool.run { done.change { $0 += 1 } } }
            #expect(done.wait { $0 == round * 3 })
            #expect(Eventually.holds { pool.threadCount == 0 })
        }
    }

    @Test("after shutdown work is refused and waiting work forgotten")
    func shutdown() throws {
        let pool = BlockingPool(name: "test", threads: 1)
        let (gate, started) = (Gate(), Gate())
        let ran = Shared(false)
        try pool.run {
            started.open()
            gate.wait()
        }
        #expect(started.wait())
        try pool.run { ran.change { $0 = true } }
        pool.shutdown()
        pool.shutdown()
        #expect(throws: BlockingPool.Refusal.shutDown) { try pool.run {} }
        gate.open()
        #expect(Eventually.holds { pool.threadCount == 0 })
        #expect(!ran.value)
    }
}
