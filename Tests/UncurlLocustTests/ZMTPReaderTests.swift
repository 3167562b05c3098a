import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLocust

struct ZMTPReaderTests {
    private static let greeting: [UInt8] =
        [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 1] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)
    private static let ready: [UInt8] = frame(
        4,
        [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("ROUTER".utf8)
            + [8] + Array("Identity".utf8) + [0, 0, 0, 0]
    )

    private static func frame(_ flags: UInt8, _ body: [UInt8]) -> [UInt8] { [flags, UInt8(body.count)] + body }

    private func events(_ bytes: [UInt8], piece: Int) throws -> [ZMTP.Event] {
        var (reader, found) = (ZMTP(), [ZMTP.Event]())
        for start in stride(from: 0, to: bytes.count, by: piece) {
            reader.append(bytes[start..<min(start + piece, bytes.count)])
            while let event = try reader.next() { found.append(event) }
        }
        return found
    }

    @Test(
        "greeting, READY, messages short and long, in parts, and a PING, in pieces of any size",
        arguments: [1, 7, 4_096]
    )
    func conversation(piece: Int) throws {
        let long = [UInt8](repeating: 9, count: 700)
        let bytes =
            Self.greeting + Self.ready + Self.frame(0, [1, 2]) + [2, 0, 0, 0, 0, 0, 0, 2, 0xBC] + long
            + Self.frame(1, [3]) + Self.frame(0, [4]) + Self.frame(4, [4] + Array("PING".utf8) + [0, 10, 77])
        #expect(
            try events(bytes, piece: piece) == [
                .ready, .message([1, 2]), .message(long), .message([3, 4]), .ping(context: [77]),
            ]
        )
    }

    @Test("a message in many frames takes time in proportion to its length, and has a limit")
    func manyFrames() throws {
        let frame = { (length: Int) -> [UInt8] in
            let head: [UInt8] = [3] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
            return head + [UInt8](repeating: 9, count: length)
        }
        let start = Self.greeting + Self.ready
        let conversation = { (count: Int) in
            let small = Array(repeatElement(Self.frame(1, [1]), count: count).joined())
            let message = [UInt8](repeating: 9, count: count << 8) + [UInt8](repeating: 1, count: count) + [2]
            return (octets: start + frame(count << 8) + small + Self.frame(0, [2]), message: message)
        }
        try expectProportionalTime(from: 1_000, of: conversation) { octets, message in
            let found = try events(octets, piece: 1 << 20)
            #expect(found.last == .message(message))
        }
        let long = frame(15 << 20)
        #expect(throws: UsageError.frameTooLong(30 << 20)) { try events(start + long + long, piece: 1 << 20) }
    }

    @Test("what we send is what a peer of the same version reads")
    func ours() throws {
        #expect(ZMTP.greeting.count == ZMTP.greetingSize)
        #expect(ZMTP.message([UInt8](repeating: 0, count: 256)).prefix(9) == [2, 0, 0, 0, 0, 0, 0, 1, 0])
        #expect(ZMTP.message([5]) == [0, 1, 5])
        let ours = ZMTP.ready(identity: "me")
        #expect(ours.starts(with: [4, UInt8(ours.count - 2), 5] + Array("READY".utf8)))
        #expect(ZMTP.pong([7]) == [4, 6, 4] + Array("PONG".utf8) + [7])
    }

    @Test("a peer that is none of ours is refused by its reason")
    func strangers() {
        #expect(throws: UsageError.notZeroMQ) { try events(Array("HTTP/1.1 400 Bad Request".utf8), piece: 8) }
        var old = Self.greeting
        old[10] = 2
        #expect(throws: UsageError.version(2)) { try events(old, piece: 64) }
        let plain = Array(Self.greeting[..<12]) + Array("PLAIN".utf8) + [UInt8](repeating: 0, count: 47)
        #expect(throws: UsageError.mechanism("PLAIN")) { try events(plain, piece: 64) }
        let dealer = Self.frame(
            4,
            [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 3] + Array("PUB".utf8)
        )
        #expect(throws: UsageError.socketType("PUB")) { try events(Self.greeting + dealer, piece: 64) }
        let refusal = Self.frame(4, [5] + Array("ERROR".utf8) + [2] + Array("no".utf8))
        #expect(throws: UsageError.refused("no")) { try events(Self.greeting + refusal, piece: 64) }
        #expect(throws: UsageError.malformedCommand) { try events(Self.greeting + Self.frame(0, [1]), piece: 64) }
        #expect(throws: UsageError.malformedCommand) {
            try events(Self.greeting + Self.frame(4, [200, 1]), piece: 64)
        }
        #expect(throws: UsageError.malformedCommand) { try events(Self.greeting + Self.frame(0x80, [1]), piece: 64) }
        let endless = Self.greeting + Self.ready + [2, 0xFF, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: UsageError.frameTooLong(0xFF << 56)) { try events(endless, piece: 64) }
    }

    @Test("no damaged byte makes the reader trap")
    func damaged() {
        let good =
            Self.greeting + Self.ready + Self.frame(0, [1, 2]) + Self.frame(4, [4] + Array("PING".utf8) + [0, 1])
        for index in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[index] ^= 1 << bit
                _ = try? events(bytes, piece: 16)
            }
        }
    }
}
