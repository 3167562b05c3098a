import Testing

@testable import UncurlWebSocket

@Suite struct IncomingMessageTests {
    @Test("a plain message has room for what its limit leaves, however large a claim is")
    func room() throws {
        var message = IncomingMessage(FrameHeader(.binary, length: 4, isFinal: false))
        try message.take([1, 2, 3, 4].span, nil, 0, nil, limit: 10)
        #expect(message.hasRoom(for: 6, limit: 10) && !message.hasRoom(for: 7, limit: 10))
        #expect(!message.hasRoom(for: UInt64.max >> 1, limit: .max) && !message.hasRoom(for: 1, limit: 2))
        #expect(message.hasRoom(for: 0, limit: 2))
    }

    @Test("a compressed one is judged by what it comes to")
    func compressed() {
        let message = IncomingMessage(FrameHeader(.text, length: 100, isCompressed: true))
        #expect(message.hasRoom(for: 1_000, limit: 10))
    }

    @Test("a compressed one may take eight times its limit and 64 KiB, all frames together, however large a claim is")
    func compressedRoom() {
        var message = IncomingMessage(FrameHeader(.text, length: 0, isFinal: false, isCompressed: true))
        let most: UInt64 = 8 * 1_000 + (64 << 10)
        #expect(message.hasRoom(for: most, limit: 1_000) && !message.hasRoom(for: most + 1, limit: 1_000))
        message.begin(FrameHeader(.continuation, length: 1_000, isFinal: false))
        #expect(message.hasRoom(for: most - 1_000, limit: 1_000) && !message.hasRoom(for: most - 999, limit: 1_000))
        #expect(!message.hasRoom(for: UInt64.max, limit: 1_000) && message.hasRoom(for: UInt64.max >> 1, limit: .max))
        #expect(message.hasRoom(for: 0, limit: -1))
    }
}
