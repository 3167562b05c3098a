import Testing

@testable import UncurlReactor

@Suite("Loop-bound values")
struct LoopBoundTests {
    @Test("the loop finds what was sent to it")
    func opened() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let probe = Probe()
        let bound = LoopBound(probe, on: loop)
        loop.post {
            #expect(bound.value.seen.isEmpty)
            bound.value.ready(.readable)
            loop.stop()
        }
        bench.run()
        #expect(probe.seen == [.readable])
    }

    @Test("anywhere else opening traps")
    func trapped() async {
        await #expect(processExitsWith: .failure) {
            _ = LoopBound(1, on: try EventLoop()).value
        }
    }
}
