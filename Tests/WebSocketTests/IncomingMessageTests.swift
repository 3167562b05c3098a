import Testing

@testable import WebSocket

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
}
