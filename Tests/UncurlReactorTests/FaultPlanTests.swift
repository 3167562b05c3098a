import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Fault plans", .ownThread)
struct FaultPlanTests {
    private let buffer = ReadBuffer()

    /// Runs `body` on this thread under the plan.
    private func under<Result>(_ plan: FaultPlan, _ body: () throws -> Result) rethrows -> Result {
        FaultPlan.install(plan)
        defer { FaultPlan.install(nil) }
        return try body()
    }

    @Test("the k-th call fails with the errno it was given, and only that one")
    func failure() throws {
        let plan = FaultPlan(failures: [FaultPlan.Failure(call: 2, with: .tooManyOpenFiles)])
        try under(plan) {
            _ = try Socket(.v4)
            #expect(throws: Errno.tooManyOpenFiles) { _ = try Socket(.v4) }
            _ = try Socket(.v4)
        }
        #expect(plan.calls == 3 && plan.failed == 1)
        #expect(plan.callsByKind == [.socket: 3])
        #expect(plan.descriptors.isEmpty)
    }

    @Test("calls are counted by kind where a kind is meant, and may fail from then on")
    func lasting() throws {
        let plan = FaultPlan(failures: [FaultPlan.Failure(call: 2, of: .socket, with: .noBufferSpace, lasts: true)])
        try under(plan) {
            let socket = try Socket(.v4)
            socket.disableNagle()
            socket.enableKeepAlive()
            #expect(plan.descriptors == [socket.number])
            for _ in 0..<2 { #expect(throws: Errno.noBufferSpace) { _ = try Socket(.v4) } }
        }
        #expect(plan.failed == 2)
    }

    @Test("bytes move a few at a time, through refusals and signals, and arrive as they were")
    func trickle() throws {
        let ends = try Peer().connected()
        let plan = FaultPlan(seed: 5)
        plan.blockPercent = 40
        plan.interruptPercent = 40
        plan.maximumBytes = 1
        let (head, body) = (Array("head ".utf8), Array("body".utf8))
        var refusals = 0
        let received = try under(plan) {
            var sent = 0
            while sent < 9 {
                let first = head.span.extracting(droppingFirst: min(sent, 5))
                let taken = try ends.client.write(first, body.span.extracting(droppingFirst: max(0, sent - 5)))
                #expect((taken ?? 1) == 1)
                sent += taken ?? 0
                if taken == nil { refusals += 1 }
            }
            var received: [UInt8] = []
            while received.count < 9 {
                guard case .bytes(let count) = try ends.server.read(into: buffer) else { continue }
                buffer.withBytes(count) { bytes in received.append(contentsOf: bytes.indices.map { bytes[$0] }) }
                #expect(count == 1)
            }
            return received
        }
        #expect(received == head + body)
        #expect(refusals > 0)
        #expect(plan.calls > 18 + refusals)
    }

    @Test("the same seed makes the same faults")
    func seeded() {
        func faults(_ seed: UInt64) -> [Errno?] {
            let plan = FaultPlan(seed: seed)
            plan.blockPercent = 30
            plan.interruptPercent = 30
            return (0..<100).map { _ in plan.strike(.send) }
        }
        #expect(faults(1) == faults(1))
        #expect(faults(1) != faults(2))
    }

    @Test("a certain fault leaves a chance all the same, and only calls that can wait or be interrupted meet it")
    func chances() {
        let plan = FaultPlan()
        plan.blockPercent = 100
        plan.interruptPercent = 100
        for kind in SystemCall.allCases {
            let faults = Set((0..<4_000).map { _ in plan.strike(kind) })
            switch kind {
            case .accept, .send, .receive, .sendFile: #expect(faults == [nil, .interrupted, .wouldBlock])
            case .connect, .epollWait: #expect(faults == [nil, .interrupted])
            case .socket, .setsockopt, .getsockopt, .getsockname, .bind, .listen, .peek, .openFile, .fileStatus,
                .readFile, .writeFile, .epollAdd, .epollModify, .lookup, .thread:
                #expect(faults == [nil])
            }
        }
    }

    @Test("a connect interrupted by a signal goes on and connects")
    func interruptedConnect() throws {
        let peer = try Peer()
        let plan = FaultPlan(failures: [FaultPlan.Failure(call: 1, of: .connect, with: .interrupted)])
        try under(plan) {
            let socket = try Socket(.v4)
            #expect(try socket.connect(to: peer.address) == false)
            Wire.wait(socket.number, for: POLLOUT)
            try socket.finishConnect()
        }
        #expect(plan.failed == 1)
    }

    @Test("an epoll set can only be interrupted, and timers keep their time in a storm of signals")
    func storm() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let plan = FaultPlan(failures: [FaultPlan.Failure(call: 1, of: .epollWait, with: .outOfMemory)])
        plan.interruptPercent = 90
        loop.faults = plan
        let start = Instant.current()
        let deadline = start.advanced(by: .milliseconds(30))
        let timer = Alarm { _ in loop.stop() }
        _ = loop.arm(at: deadline, timer)
        bench.run()
        #expect(loop.faults == nil, "a loop that has ended leaves its thread as it was")
        let end = Instant.current()
        #expect(plan.failed == 1 && end >= deadline)
    }

    @Test("a plan holds on its own loop's thread alone")
    func confined() throws {
        let group = try EventLoopGroup()
        let other = group.loops[0]
        let opened = Shared<Bool?>(nil)
        under(FaultPlan(failures: [FaultPlan.Failure(call: 1, with: .accessDenied, lasts: true)])) {
            #expect(throws: Errno.accessDenied) { _ = try Socket(.v4) }
            other.post {
                let socket = try? Socket(.v4)
                opened.change { $0 = socket != nil }
            }
            #expect(opened.wait { $0 != nil })
        }
        #expect(opened.value == true)
        group.shutdown()
    }

    @Test("a look-up and a new thread can be made to fail")
    func lookup() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        loop.faults = FaultPlan(failures: [FaultPlan.Failure(call: 1, of: .lookup, with: .outOfMemory)])
        var options = Resolver.Options()
        options.lookup = { _, _ in [.v4(.loopback)] }
        let resolver = Resolver(options: options)
        var answers: [IPAddress.Family: Result<[IPAddress], ResolveError>] = [:]
        _ = try resolver.resolve("name.test", on: loop) { family, result in
            answers[family] = result
            if answers.count == 2 { loop.stop() }
        }
        bench.run()
        // The two families are looked up at once: either may be first.
        #expect(answers.values.filter { $0 == .failure(.system(.outOfMemory)) }.count == 1)
        under(FaultPlan(failures: [FaultPlan.Failure(call: 1, of: .thread, with: .wouldBlock)])) {
            _ = #expect(throws: Errno.wouldBlock) { _ = try LoopThread(name: "never") {} }
        }
    }
}
