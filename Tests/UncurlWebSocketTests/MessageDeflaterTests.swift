import TestSupport
import Testing

@testable import UncurlWebSocket

@Suite(.ownThread)
struct MessageDeflaterTests {
    @Test(
        "what is compressed comes back, with every window and with and without a memory",
        arguments: [9, 10, 12, 15],
        [false, true]
    )
    func roundTrip(windowBits: Int, keepsContext: Bool) throws {
        let deflater = try #require(MessageDeflater(windowBits: windowBits, keepsContext: keepsContext))
        let inflater = try MessageInflater(keepsContext: keepsContext)
        var random = SplitMix(seed: 6)
        for length in [1, 2, 64, 1_000, 16 << 10, 16_385, 300_000] {
            for alphabet in [1, 4, 256] {
                let message = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.below(alphabet)) }
                var result: [UInt8] = []
                try inflater.inflate(deflater.deflate(message.span).span, into: &result, limit: length)
                try inflater.finish(into: &result, limit: length)
                #expect(result == message)
            }
        }
    }

    @Test("with a memory a repeated message takes a few octets, without one as many as the first")
    func memory() throws {
        var random = SplitMix(seed: 7)
        let message = (0..<500).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let keeping = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        _ = keeping.deflate(message.span)
        #expect(keeping.deflate(message.span).count < 20)
        let forgetting = try #require(MessageDeflater(windowBits: 15, keepsContext: false))
        #expect(forgetting.deflate(message.span) == forgetting.deflate(message.span))
    }

    @Test("a window of 256 octets is refused: zlib's smallest refers twice as far")
    func smallest() {
        #expect(MessageDeflater(windowBits: 8, keepsContext: true) == nil)
    }
}
