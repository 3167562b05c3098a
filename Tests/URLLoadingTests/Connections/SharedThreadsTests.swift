import TestSupport
import Testing
import UncurlReactor

@testable import URLLoading

@Suite("What sessions share", .timeLimit(.minutes(5)))
struct SharedThreadsTests {
    @Test("look-ups of more hosts than there are threads wait, and none is refused")
    func names() async throws {
        let gate = Gate()
        var options = Resolver.sharedOptions
        options.threads = 2
        options.hostsFile = nil
        options.lookup = { _, _ throws(ResolveError) in
            gate.wait()
            throw .noSuchHost
        }
        let resolver = Resolver(options: options)
        let group = try EventLoopGroup(count: 1, name: "names-test")
        defer { group.shutdown() }
        let loop = group.loops[0]
        let (answers, others) = (Counter(), Counter())
        loop.post {
            for number in 0..<1_024 {
                do {
                    _ = try resolver.resolve("host\(number).test", on: loop) { _, result in
                        if result != .failure(.noSuchHost) { others.add() }
                        answers.add()
                    }
                } catch {
                    Issue.record(error)
                }
            }
            gate.open()
        }
        await answers.reaches(2_048)
        #expect(others.value == 0)
    }
}
