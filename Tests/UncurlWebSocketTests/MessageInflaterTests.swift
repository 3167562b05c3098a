import TestSupport
import Testing

@testable import UncurlWebSocket

@Suite struct MessageInflaterTests {
    /// Each message in pieces of `piece` octets.
    private func inflate(
        _ messages: [[UInt8]],
        piece: Int = .max,
        keepsContext: Bool = true,
        limit: Int = 1 << 20
    ) throws -> [[UInt8]] {
        let inflater = try MessageInflater(keepsContext: keepsContext)
        var results: [[UInt8]] = []
        for message in messages {
            var result: [UInt8] = []
            var start = 0
            while start < message.count {
                let end = piece < message.count - start ? start + piece : message.count
                try inflater.inflate(message.span.extracting(start..<end), into: &result, limit: limit)
                start = end
            }
            try inflater.finish(into: &result, limit: limit)
            results.append(result)
        }
        return results
    }

    private func deflate(_ message: [UInt8], _ deflater: MessageDeflater) -> [UInt8] { deflater.deflate(message.span) }

    private let hello = Array("Hello".utf8)

    @Test("the examples of RFC 7692 §7.2.3 come out, whole and octet by octet", arguments: [1, 2, .max])
    func examples(piece: Int) throws {
        let plain: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        // §7.2.3.2: the second refers to the first.
        #expect(try inflate([plain, [0xF2, 0x00, 0x11, 0x00, 0x00]], piece: piece) == [hello, hello])
        #expect(try inflate([plain, plain], piece: piece, keepsContext: false) == [hello, hello])
        // §7.2.3.3: a block without compression.
        let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF] + hello + [0x00]
        #expect(try inflate([stored], piece: piece) == [hello])
        // §7.2.3.4: a last block.
        let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(try inflate([last, last, plain], piece: piece) == [hello, hello, hello])
        // §7.2.3.5: two blocks.
        let two: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
        #expect(try inflate([two], piece: piece) == [hello])
        // §7.2.3.6: the empty message.
        #expect(try inflate([[0x00], [], plain], piece: piece) == [[], [], hello])
    }

    @Test("a window goes on behind a block that called itself the last")
    func lastBlock() throws {
        let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(try inflate([last, [0xF2, 0x00, 0x11, 0x00, 0x00]]) == [hello, hello])
    }

    @Test(
        "what refers farther back than was agreed on comes out, in whatever pieces it comes",
        arguments: [1, 7, 300, .max]
    )
    func farBack(piece: Int) throws {
        var random = SplitMix(seed: 5)
        let noise = (0..<20_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        let message = deflate(noise + noise, deflater)
        #expect(message.count < 21_000)
        #expect(try inflate([message], piece: piece) == [noise + noise])
        #expect(try inflate([message, deflate(noise, deflater)], piece: piece) == [noise + noise, noise])
    }

    @Test("a message that forgets may not refer to the one before")
    func forgetful() {
        let plain: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(throws: WebSocketError.self) {
            try inflate([plain, [0xF2, 0x00, 0x11, 0x00, 0x00]], keepsContext: false)
        }
    }

    @Test("a bomb ends at the limit, having cost no more than that and a step")
    func bomb() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        let bomb = deflate([UInt8](repeating: 0, count: 64 << 20), deflater)
        #expect(bomb.count < 80_000)
        let inflater = try MessageInflater(keepsContext: true)
        var result: [UInt8] = []
        var caught: WebSocketError?
        do throws(WebSocketError) {
            try inflater.inflate(bomb.span, into: &result, limit: 1 << 20)
        } catch {
            caught = error
        }
        #expect(caught == .messageTooBig(limit: 1 << 20))
        #expect(result.count <= (1 << 20) + (16 << 10))
    }

    @Test("a limit that is met exactly is no mistake")
    func limit() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        let message = deflate([UInt8](repeating: 1, count: 100_000), deflater)
        #expect(try inflate([message], limit: 100_000)[0].count == 100_000)
        #expect(throws: WebSocketError.messageTooBig(limit: 99_999)) { try inflate([message], limit: 99_999) }
    }

    @Test("a message that is cut short or corrupt is told from a whole one")
    func corrupt() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        var random = SplitMix(seed: 4)
        let message = deflate((0..<300).map { _ in UInt8(random.below(16)) }, deflater)
        for count in 1..<message.count {
            #expect(throws: WebSocketError.self) { try inflate([Array(message[..<count])]) }
        }
        #expect(throws: WebSocketError.self) { try inflate([[0xFF, 0xFF, 0xFF]]) }
    }
}
