import TestSupport
import Testing

@testable import Uncurl

@Suite("When streams are asked for again")
struct ReconnectionPolicyTests {
    @Test(
        "no factor, length or requested delay makes an invalid delay",
        .rows("B26"),
        arguments: [0, -1, 2, 1e300, .infinity, -.infinity, .nan]
    )
    func extremes(factor: Double) {
        var policy = ReconnectionPolicy()
        policy.factor = factor
        policy.jitter = 0
        for longest in [Duration.zero, .seconds(60), .seconds(Int64.max)] {
            policy.longest = longest
            for retry in [Duration.zero, .milliseconds(1), .seconds(3), .milliseconds(Int.max)] {
                for failures in [0, 1, 2, 64, Int.max] {
                    let delay = policy.delay(retry: retry, failures: failures)
                    let asked = max(policy.shortest, min(retry, policy.longestAsked))
                    #expect(delay >= asked && delay <= max(longest, asked))
                }
            }
        }
    }

    @Test("delays grow by the factor from the second failure on, up to the longest", .rows("B26"))
    func growth() {
        var policy = ReconnectionPolicy()
        policy.jitter = 0
        let delays = [0, 1, 2, 3, 6, 7].map { policy.delay(retry: .seconds(3), failures: $0) }
        #expect(delays == [3, 3, 6, 12, 60, 60].map { .seconds($0) })
    }
}
