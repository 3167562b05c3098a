import TestSupport
import Testing

@testable import UncurlWebSocket

@Suite struct FrameHeaderReaderTests {
    /// The first header in `bytes`, given whole, then a piece of `piece` octets at a time, with the same answer.
    private func read(_ bytes: [UInt8], from sender: Role = .server, mayCompress: Bool = false) throws -> FrameHeader? {
        var whole: Result<FrameHeader?, WebSocketError>?
        for piece in [bytes.count, 1, 2, 3] {
            var reader = FrameHeaderReader(from: sender, mayCompress: mayCompress)
            let result = Result<FrameHeader?, WebSocketError> { () throws(WebSocketError) in
                var start = 0
                while start < bytes.count {
                    let end = min(bytes.count, start + piece)
                    var position = start
                    if let header = try reader.read(bytes.span.extracting(0..<end), &position) { return header }
                    start = end
                }
                return nil
            }
            if let whole { #expect(whole == result, "\(bytes) in pieces of \(piece)") }
            whole = result
        }
        return try whole?.get()
    }

    private func violation(_ bytes: [UInt8], from sender: Role = .server, mayCompress: Bool = false) -> WebSocketError?
    {
        do {
            _ = try read(bytes, from: sender, mayCompress: mayCompress)
            return nil
        } catch {
            return error as? WebSocketError
        }
    }

    @Test("what was written is read, of every length, and cut at any octet")
    func roundTrip() throws {
        var random = SplitMix(seed: 2)
        for length in [0, 1, 124, 125, 126, 127, 0xFFFF, 0x1_0000, .max] {
            for opcode in [Opcode.continuation, .text, .binary] {
                for sender in [Role.client, .server] {
                    let mask = sender == .client ? Mask(UInt32(truncatingIfNeeded: random.next())) : nil
                    let header = FrameHeader(opcode, length: length, isFinal: random.below(2) == 0, mask: mask)
                    var bytes: [UInt8] = []
                    header.append(to: &bytes)
                    #expect(try read(bytes, from: sender) == header)
                    #expect(try read(bytes.dropLast(), from: sender) == nil)
                }
            }
        }
    }

    @Test("octets behind the header are left alone")
    func rest() throws {
        var reader = FrameHeaderReader(from: .server, mayCompress: false)
        let bytes: [UInt8] = [0x82, 2, 0xFF, 0xFF]
        var position = 0
        #expect(try reader.read(bytes.span, &position) == FrameHeader(.binary, length: 2))
        #expect(position == 2 && reader.isEmpty)
    }

    @Test("a length in more octets than it needs is refused")
    func minimal() {
        #expect(violation([0x82, 126, 0, 125]) == .violation(.longLength))
        #expect(violation([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) == .violation(.longLength))
        #expect(violation([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 1]) == .violation(.longLength))
        #expect(violation([0x82, 126, 0, 126]) == nil)
        #expect(violation([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]) == nil)
    }

    @Test("a length of 64 bits is refused")
    func huge() {
        #expect(violation([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]) == .violation(.hugeLength))
    }

    @Test("every reserved bit and opcode is refused at the first octet")
    func reserved() {
        for first in UInt8.min...UInt8.max {
            let opcode = first & 0x0F
            let isKnown = [0, 1, 2, 8, 9, 10].contains(opcode)
            let expected: WebSocketError? =
                if !isKnown {
                    .violation(.unknownOpcode(opcode))
                } else if first & 0x70 != 0 {
                    .violation(.reservedBits)
                } else if opcode >= 8, first & 0x80 == 0 {
                    .violation(.fragmentedControl)
                } else {
                    nil
                }
            #expect(violation([first]) == expected)
        }
    }

    @Test("RSV1 stands for compression on a message's first frame alone, where it was agreed on")
    func compressed() {
        #expect(violation([0xC1, 0], mayCompress: true) == nil)
        #expect(violation([0x42, 0], mayCompress: true) == nil)
        for first in [0xC0, 0x40, 0xC8, 0xC9, 0xCA, 0xE1, 0xD1] as [UInt8] {
            #expect(violation([first], mayCompress: true) == .violation(.reservedBits))
        }
    }

    @Test("a client masks and a server does not")
    func masking() {
        #expect(violation([0x82, 0x80], from: .server) == .violation(.masking))
        #expect(violation([0x82, 0x00], from: .client) == .violation(.masking))
        #expect(violation([0x82, 0x80], from: .client) == nil)
    }

    @Test("a control frame has at most 125 octets")
    func control() {
        for first in [0x88, 0x89, 0x8A] as [UInt8] {
            #expect(violation([first, 125]) == nil)
            #expect(violation([first, 126]) == .violation(.longControl))
            #expect(violation([first, 127]) == .violation(.longControl))
        }
    }
}
