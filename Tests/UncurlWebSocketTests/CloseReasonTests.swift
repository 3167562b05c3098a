import Testing

@testable import UncurlWebSocket

@Suite struct CloseReasonTests {
    @Test("only codes that an endpoint may send are taken (RFC 6455 §7.4)")
    func codes() {
        let allowed = Set([1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))
        for code in UInt16.min...UInt16.max {
            #expect(CloseReason.maySend(code) == allowed.contains(Int(code)))
        }
        #expect(CloseReason(1005) == nil && CloseReason(1006) == nil && CloseReason(1015) == nil)
    }

    @Test("a payload reads as it was written")
    func roundTrip() throws {
        let reason = try #require(CloseReason(3001, "auf Wiedersehen €"))
        #expect(try CloseReason(payload: reason.payload) == reason)
        #expect(reason.payload.prefix(2) == [0x0B, 0xB9])
        #expect(try CloseReason(payload: []) == .none)
        #expect(CloseReason.none.payload.isEmpty)
        #expect(try CloseReason(payload: [0x03, 0xE8]) == CloseReason(1000))
    }

    @Test("one octet, a forbidden code and a reason that is not UTF-8 are refused")
    func refused() {
        #expect(throws: WebSocketError.violation(.shortClose)) { try CloseReason(payload: [3]) }
        #expect(throws: WebSocketError.violation(.closeCode(1005))) { try CloseReason(payload: [0x03, 0xED]) }
        #expect(throws: WebSocketError.invalidText) { try CloseReason(payload: [0x03, 0xE8, 0xFF]) }
        #expect(throws: WebSocketError.invalidText) { try CloseReason(payload: [0x03, 0xE8, 0xE2, 0x82]) }
    }

    @Test("a reason too long for a control frame is cut at a character's end")
    func cut() throws {
        for prefix in 0..<4 {
            let text = String(repeating: "x", count: prefix) + String(repeating: "€", count: 100)
            let reason = try #require(CloseReason(1000, text))
            #expect(reason.payload.count <= 125 && reason.payload.count > 122)
            #expect(text.hasPrefix(reason.text) && !reason.text.isEmpty)
            #expect(try CloseReason(payload: reason.payload) == reason)
        }
    }
}
