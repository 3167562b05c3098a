import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct ConnectPacerTests {
    private let url = "http://127.0.0.1/"

    private func pacer(_ line: String...) throws -> ConnectPacer {
        guard case .run(let command) = try Program.parse(line: line + ["http://127.0.0.1/"]) else {
            throw UsageError("no run")
        }
        let options = try LoadOptions(command)
        var limits = SystemLimits.usual
        limits.acceptQueue = 8
        let plan = try RunPlan(options, limits)
        return ConnectPacer(plan, plan.shares[0])
    }

    @Test("without a rate, connects begin at once, up to the limit of connects under way")
    func underWay() throws {
        var pacer = try pacer("-t1", "-c10")
        for dialling in 0..<4 {
            #expect(pacer.wait(at: 0, dialling: dialling) == nil)
            pacer.began(at: 0)
        }
        #expect(pacer.pending == 6)
        #expect(try #require(pacer.wait(at: 5, dialling: 4)) > 5)
        #expect(pacer.wait(at: 5, dialling: 3) == nil)
    }

    @Test("with a rate each connect waits for its time")
    func rate() throws {
        var pacer = try pacer("-t1", "-c10", "--connect-rate", "1k/s")
        #expect(pacer.wait(at: 0, dialling: 0) == nil)
        pacer.began(at: 0)
        #expect(pacer.wait(at: 0, dialling: 0) == 1_000_000)
        #expect(pacer.wait(at: 999_999, dialling: 0) == 1_000_000)
        #expect(pacer.wait(at: 1_000_000, dialling: 0) == nil)
        pacer.began(at: 1_000_000)
        // Replacing a connection is a connect like any other.
        pacer.add()
        #expect(pacer.wait(at: 1_000_000, dialling: 0) == 2_000_000)
    }

    @Test("time in which no connection was needed is no credit: the next connects are spaced again")
    func noCredit() throws {
        for line in [["-t1"], ["-t3"], ["-t2", "--shard", "1/2"]] {
            guard case .run(let command) = try Program.parse(line: line + ["-c12", "--connect-rate", "10/s", url])
            else {
                throw UsageError("no run")
            }
            let options = try LoadOptions(command)
            let plan = try RunPlan(options, .usual)
            let spacing = UInt64(plan.threads * plan.options.shard.count) * 100_000_000
            var pacer = ConnectPacer(plan, plan.shares[plan.threads - 1])
            var now = pacer.wait(at: 0, dialling: 0) ?? 0
            for _ in 0..<2 {
                for _ in 0..<10 {
                    #expect(pacer.wait(at: now, dialling: 0) == nil)
                    pacer.began(at: now)
                    let next = try #require(pacer.wait(at: now, dialling: 0))
                    #expect(next > now && next - now <= spacing)
                    now = next
                }
                #expect(pacer.wait(at: now, dialling: 0) == nil)
                now += 100_000_000_000
            }
        }
    }

    @Test("after a failed connect the next one waits a while")
    func holdOff() throws {
        var pacer = try pacer("-t1", "-c10")
        pacer.failed(at: 5)
        #expect(pacer.wait(at: 6, dialling: 0) == 5 + ConnectPacer.holdOff)
        #expect(pacer.wait(at: 5 + ConnectPacer.holdOff, dialling: 0) == nil)
    }
}
