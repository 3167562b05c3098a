import Testing

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

struct ConnectPacerTests {
    private func pacer(_ line: String...) throws -> ConnectPacer {
        guard case .run(let command) = try Program.parse(line: line + ["http://127.0.0.1/"]) else {
            throw UsageError("no run")
        }
        let options = try LoadOptions(command)
        var limits = SystemLimits.usual
        limits.acceptQueue = 8
        let plan = RunPlan(options, try Preflight(options, limits))
        return ConnectPacer(plan, plan.shares[0])
    }

    @Test("without a rate, connects begin at once, up to the limit of connects under way")
    func underWay() throws {
        var pacer = try pacer("-t1", "-c10")
        for dialling in 0..<4 {
            #expect(pacer.wait(at: 0, dialling: dialling) == nil)
            pacer.began()
        }
        #expect(pacer.pending == 6)
        #expect(try #require(pacer.wait(at: 5, dialling: 4)) > 5)
        #expect(pacer.wait(at: 5, dialling: 3) == nil)
    }

    @Test("with a rate each connect waits for its time")
    func rate() throws {
        var pacer = try pacer("-t1", "-c10", "--connect-rate", "1k/s")
        #expect(pacer.wait(at: 0, dialling: 0) == nil)
        pacer.began()
        #expect(pacer.wait(at: 0, dialling: 0) == 1_000_000)
        #expect(pacer.wait(at: 999_999, dialling: 0) == 1_000_000)
        #expect(pacer.wait(at: 1_000_000, dialling: 0) == nil)
        pacer.began()
        // Replacing a connection is a connect like any other.
        pacer.add()
        #expect(pacer.wait(at: 1_000_000, dialling: 0) == 2_000_000)
    }

    @Test("after a failed connect the next one waits a while")
    func holdOff() throws {
        var pacer = try pacer("-t1", "-c10")
        pacer.failed(at: 5)
        #expect(pacer.wait(at: 6, dialling: 0) == 5 + ConnectPacer.holdOff)
        #expect(pacer.wait(at: 5 + ConnectPacer.holdOff, dialling: 0) == nil)
    }
}
