import TestSupport
import UncurlWebSocket

/// Writes frames by hand, and runs a machine over octets cut in any way.
enum Frames {
    static let key = Mask(0x37FA_213D)

    /// A frame as a server sends it, or with the key a client's.
    static func frame(
        _ opcode: Opcode,
        _ payload: [UInt8],
        isFinal: Bool = true,
        isCompressed: Bool = false,
        masked: Bool = false
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        let mask = masked ? key : nil
        FrameHeader(opcode, length: payload.count, isFinal: isFinal, isCompressed: isCompressed, mask: mask)
            .append(to: &bytes)
        let octets: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        return bytes + (masked ? payload.indices.map { payload[$0] ^ octets[$0 % 4] } : payload)
    }

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
        frame(.text, Array(text.utf8), isFinal: isFinal)
    }
    static func more(_ text: String, isFinal: Bool = true) -> [UInt8] {
        frame(.continuation, Array(text.utf8), isFinal: isFinal)
    }
    static func close(_ code: UInt16, _ text: String = "") -> [UInt8] {
        frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(text.utf8))
    }

    /// What a machine makes of its input.
    struct Outcome: Equatable {
        var events: [WebSocketMachine.Event] = []
        var error: WebSocketError?
        var state = WebSocketMachine.State.open
        var output = 0
    }

    static func run(
        _ input: [UInt8],
        cutAt cuts: [Int],
        role: Role = .client,
        deflate: DeflateAgreement? = nil,
        limit: Int = 1 << 20,
        fragments: Int = WebSocketMachine.defaultFragmentCount
    ) -> Outcome {
        var outcome = Outcome()
        var machine = WebSocketMachine(
            role,
            deflate: deflate,
            maximumMessageSize: limit,
            maximumFragmentCount: fragments
        )
        var start = 0
        for end in cuts + [input.count] where end > start {
            let piece = Array(input[start..<end])
            start = end
            var position = 0
            do throws(WebSocketError) {
                while let event = try machine.receive(piece.span, &position) { outcome.events.append(event) }
            } catch {
                outcome.error = outcome.error ?? error
            }
        }
        outcome.state = machine.state
        outcome.output = machine.takeOutput().count
        return outcome
    }
}
