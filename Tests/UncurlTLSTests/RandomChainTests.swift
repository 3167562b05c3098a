import Foundation
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("Random chains", .ownThread)
struct RandomChainTests {
    /// Forty questions each; more with UNCURL_WORLDS.
    private static let worlds = ProcessInfo.processInfo.environment["UNCURL_WORLDS"].flatMap(Int.init) ?? 80

    @Test("of thousands of chains, those are accepted that have a good path, and no others")
    func chains() throws {
        let keys = try RandomWorld.keys()
        var (accepted, refused, missed) = (0, 0, 0)
        for seed in 0..<Self.worlds {
            var random = SplitMix(seed: UInt64(seed))
            let world = try RandomWorld(&random, keys: keys)
            for _ in 0..<40 {
                let question = world.question(&random)
                let expected = world.isAcceptable(question)
                switch try world.verdict(question) {
                case .success:
                    accepted += 1
                    #expect(expected, "seed \(seed): \(question) was accepted")
                case .failure(let failure):
                    refused += 1
                    // Eight tries may not suffice for six certificates that all vouch for each other.
                    if expected { missed += 1 }
                    if expected, question.sent.count <= 4 {
                        Issue.record("seed \(seed): \(question) was refused: \(failure)")
                    }
                }
            }
        }
        #expect(accepted > Self.worlds * 2 && refused > Self.worlds * 10)
        #expect(missed * 200 <= accepted, "\(missed) of \(accepted + missed) good paths were not found")
        if Self.worlds > 80 { print("accepted \(accepted), refused \(refused), missed \(missed)") }
    }
}
