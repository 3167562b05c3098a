import Testing

@testable import UncurlWebSocket

@Suite struct FrameHeaderTests {
    private func wire(_ header: FrameHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        header.append(to: &bytes)
        return bytes
    }

    @Test("a length takes as few octets as hold it")
    func lengths() {
        #expect(wire(FrameHeader(.binary, length: 0)) == [0x82, 0])
        #expect(wire(FrameHeader(.binary, length: 125)) == [0x82, 125])
        #expect(wire(FrameHeader(.binary, length: 126)) == [0x82, 126, 0, 126])
        #expect(wire(FrameHeader(.binary, length: 0xFFFF)) == [0x82, 126, 0xFF, 0xFF])
        #expect(wire(FrameHeader(.binary, length: 0x1_0000)) == [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(wire(FrameHeader(.text, length: .max))[1...] == [127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test("flags, opcode and key lie where RFC 6455 §5.2 wants them")
    func flags() {
        #expect(wire(FrameHeader(.text, length: 5, isFinal: false)) == [0x01, 5])
        #expect(wire(FrameHeader(.continuation, length: 2)) == [0x80, 2])
        #expect(wire(FrameHeader(.text, length: 7, isCompressed: true)) == [0xC1, 7])
        #expect(
            wire(FrameHeader(.ping, length: 5, mask: Mask(0x37FA_213D))) == [0x89, 0x85, 0x37, 0xFA, 0x21, 0x3D]
        )
    }
}
