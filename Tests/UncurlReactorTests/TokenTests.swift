import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Tokens", .ownThread)
struct TokenTests {
    @Test("a token survives the way through the kernel")
    func packing() {
        for token in [
            Token(slot: 0, generation: 0), Token(slot: 7, generation: .max), Token(slot: .max, generation: 1),
        ] {
            #expect(Token(packed: token.packed) == token)
        }
    }
}
