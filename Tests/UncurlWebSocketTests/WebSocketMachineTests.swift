import TestSupport
import Testing

@testable import UncurlWebSocket

@Suite(.ownThread)
struct WebSocketMachineTests {
    /// Octets, and what a client makes of them.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var input: [UInt8]
        var events: [WebSocketMachine.Event] = []
        var error: WebSocketError?
        var deflates = false
        var limit = 1 << 20

        var testDescription: String { name }

        init(
            _ name: String,
            _ input: [[UInt8]],
            _ events: [WebSocketMachine.Event] = [],
            fails error: WebSocketError? = nil,
            deflates: Bool = false,
            limit: Int = 1 << 20
        ) {
            (self.name, self.input, self.events, self.error) = (name, input.flatMap { $0 }, events, error)
            (self.deflates, self.limit) = (deflates, limit)
        }
    }

    private static func text(_ text: String) -> WebSocketMachine.Event { .message(.text(text)) }
    private static func binary(_ bytes: [UInt8]) -> WebSocketMachine.Event { .message(.binary(bytes)) }
    private static func closed(_ code: UInt16, _ text: String = "") -> WebSocketMachine.Event {
        .closed(CloseReason(code, text) ?? .none)
    }
    private static let long = [UInt8](repeating: 0xFE, count: 70)
    private static let helloCompressed: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    static let cases: [Case] = framing + fragments + control + closing + encoding + limits + compression

    private static let framing: [Case] = [
        Case("an empty text", [Frames.text("")], [text("")]),
        Case(
            "a text of 125 octets",
            [Frames.text(String(repeating: "*", count: 125))],
            [text(String(repeating: "*", count: 125))]
        ),
        Case(
            "a text of 126 octets",
            [Frames.text(String(repeating: "*", count: 126))],
            [text(String(repeating: "*", count: 126))]
        ),
        Case("an empty binary message", [Frames.frame(.binary, [])], [binary([])]),
        Case(
            "three messages at once",
            [Frames.text("a"), Frames.frame(.binary, long), Frames.text("b")],
            [text("a"), binary(long), text("b")]
        ),
        Case(
            "RSV1 without an extension",
            [Frames.text("a"), [0xC1, 1, 0x61]],
            [text("a")],
            fails: .violation(.reservedBits)
        ),
        Case("RSV2", [[0xA1, 0]], fails: .violation(.reservedBits)),
        Case("RSV3 on a ping", [[0x99, 0]], fails: .violation(.reservedBits)),
        Case("an unknown opcode for data", [[0x83, 0]], fails: .violation(.unknownOpcode(3))),
        Case("an unknown opcode for control", [[0x8B, 0]], fails: .violation(.unknownOpcode(11))),
        Case("a masked frame from a server", [Frames.frame(.text, [0x61], masked: true)], fails: .violation(.masking)),
        Case("a length in too many octets", [[0x81, 126, 0, 5]], fails: .violation(.longLength)),
        Case(
            "a length of 64 bits",
            [[0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]],
            fails: .violation(.hugeLength)
        ),
    ]

    private static let fragments: [Case] = [
        Case(
            "a text in two fragments",
            [Frames.text("frag", isFinal: false), Frames.more("ment")],
            [text("fragment")]
        ),
        Case(
            "empty fragments around and between",
            [
                Frames.text("", isFinal: false), Frames.more("a", isFinal: false), Frames.more("", isFinal: false),
                Frames.more(""),
            ],
            [text("a")]
        ),
        Case(
            "a ping between fragments",
            [Frames.text("a", isFinal: false), Frames.frame(.ping, [1]), Frames.more("b")],
            [.ping([1]), text("ab")]
        ),
        Case(
            "pings and pongs between every fragment",
            [
                Frames.frame(.binary, [1], isFinal: false), Frames.frame(.ping, []),
                Frames.frame(.continuation, [2], isFinal: false), Frames.frame(.pong, [9]),
                Frames.frame(.continuation, [3]),
            ],
            [.ping([]), .pong([9]), binary([1, 2, 3])]
        ),
        Case("a continuation of nothing", [Frames.more("a")], fails: .violation(.strayContinuation)),
        Case(
            "a continuation of nothing, unfinished",
            [Frames.more("a", isFinal: false)],
            fails: .violation(.strayContinuation)
        ),
        Case(
            "a continuation behind a finished message",
            [Frames.text("a"), Frames.more("b")],
            [text("a")],
            fails: .violation(.strayContinuation)
        ),
        Case(
            "a message within another",
            [Frames.text("a", isFinal: false), Frames.text("b")],
            fails: .violation(.interleavedMessage)
        ),
        Case(
            "a binary message within a text",
            [Frames.text("a", isFinal: false), Frames.frame(.binary, [1], isFinal: false)],
            fails: .violation(.interleavedMessage)
        ),
    ]

    private static let control: [Case] = [
        Case("a ping without payload", [Frames.frame(.ping, [])], [.ping([])]),
        Case(
            "a ping of 125 octets",
            [Frames.frame(.ping, [UInt8](repeating: 7, count: 125))],
            [.ping([UInt8](repeating: 7, count: 125))]
        ),
        Case(
            "a ping of 126 octets",
            [Frames.frame(.ping, [UInt8](repeating: 7, count: 126))],
            fails: .violation(.longControl)
        ),
        Case("a ping in fragments", [[0x09, 0]], fails: .violation(.fragmentedControl)),
        Case("a pong that nobody asked for", [Frames.frame(.pong, [1, 2])], [.pong([1, 2])]),
        Case("ten pings in a row", (0..<10).map { Frames.frame(.ping, [$0]) }, (0..<10).map { .ping([$0]) }),
    ]

    private static let closing: [Case] =
        [
            Case("a close without a word", [Frames.frame(.close, [])], [.closed(.none)]),
            Case("a close of one octet", [Frames.frame(.close, [3])], fails: .violation(.shortClose)),
            Case("a close with a code", [Frames.close(1000)], [closed(1000)]),
            Case("a close with a reason", [Frames.close(4999, "€")], [closed(4999, "€")]),
            Case(
                "a close with the longest reason",
                [Frames.close(1001, String(repeating: "x", count: 123))],
                [closed(1001, String(repeating: "x", count: 123))]
            ),
            Case(
                "a close that is too long",
                [Frames.close(1001, String(repeating: "x", count: 124))],
                fails: .violation(.longControl)
            ),
            Case("a close whose reason is not UTF-8", [Frames.frame(.close, [0x03, 0xE8, 0xC0])], fails: .invalidText),
            Case(
                "a close in the middle of a message",
                [Frames.text("a", isFinal: false), Frames.close(1000)],
                [closed(1000)]
            ),
            Case("what follows a close", [Frames.close(1000), Frames.text("late"), [0xFF, 0xFF]], [closed(1000)]),
            Case("a close in fragments", [[0x08, 0]], fails: .violation(.fragmentedControl)),
        ]
        + [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535].map { code in
            Case("the close code \(code)", [Frames.close(code)], fails: .violation(.closeCode(code)))
        }
        + [1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000].map { code in
            Case("the close code \(code)", [Frames.close(code)], [closed(code)])
        }

    private static let encoding: [Case] = [
        Case("text of every width", [Frames.text("κόσμε 😀 ascii")], [text("κόσμε 😀 ascii")]),
        Case(
            "a character cut by fragments",
            [
                Frames.frame(.text, [0xE2], isFinal: false), Frames.frame(.continuation, [0x82], isFinal: false),
                Frames.frame(.continuation, [0xAC]),
            ],
            [text("€")]
        ),
        Case("a text that is not UTF-8", [Frames.frame(.text, [0x61, 0xFF, 0x61])], fails: .invalidText),
        Case("a surrogate", [Frames.frame(.text, [0xED, 0xA0, 0x80])], fails: .invalidText),
        Case("an overlong slash", [Frames.frame(.text, [0xC0, 0xAF])], fails: .invalidText),
        Case("a character that never ends", [Frames.frame(.text, [0xE2, 0x82])], fails: .invalidText),
        Case(
            "a mistake in a first fragment, of which no more comes",
            [Frames.frame(.text, [0xFF], isFinal: false)],
            fails: .invalidText
        ),
        Case("a mistake in a frame of which most is still to come", [[0x81, 126, 4, 0, 0xF8]], fails: .invalidText),
        Case("any octets as binary", [Frames.frame(.binary, [0xFF, 0xC0])], [binary([0xFF, 0xC0])]),
        Case("noncharacters are text", [Frames.text("\u{FFFE}\u{10FFFF}\u{0}")], [text("\u{FFFE}\u{10FFFF}\u{0}")]),
    ]

    private static let limits: [Case] = [
        Case("a message of just the limit", [Frames.frame(.binary, long)], [binary(long)], limit: 70),
        Case("a message of one more", [Frames.frame(.binary, long)], fails: .messageTooBig(limit: 69), limit: 69),
        Case(
            "fragments that pass it together",
            [Frames.frame(.binary, long, isFinal: false), Frames.frame(.continuation, [1])],
            fails: .messageTooBig(limit: 70),
            limit: 70
        ),
        Case(
            "a claim of 2^62 octets, before any came",
            [[0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]],
            fails: .messageTooBig(limit: 1 << 20)
        ),
        Case("no limit below nothing", [Frames.frame(.binary, [])], [binary([])], limit: -1),
    ]

    private static let compression: [Case] = [
        Case(
            "a compressed message",
            [Frames.frame(.text, helloCompressed, isCompressed: true)],
            [text("Hello")],
            deflates: true
        ),
        Case(
            "a compressed message in fragments, and a ping between",
            [
                Frames.frame(.text, [0xF2, 0x48, 0xCD], isFinal: false, isCompressed: true), Frames.frame(.ping, [1]),
                Frames.frame(.continuation, [0xC9, 0xC9, 0x07, 0x00]),
            ],
            [.ping([1]), text("Hello")],
            deflates: true
        ),
        Case(
            "two compressed messages, the second by the first, and a plain one between",
            [
                Frames.frame(.text, helloCompressed, isCompressed: true), Frames.text("plain"),
                Frames.frame(.text, [0xF2, 0x00, 0x11, 0x00, 0x00], isCompressed: true),
            ],
            [text("Hello"), text("plain"), text("Hello")],
            deflates: true
        ),
        Case(
            "compressed, but not agreed on",
            [Frames.frame(.text, helloCompressed, isCompressed: true)],
            fails: .violation(.reservedBits)
        ),
        Case("a compressed ping", [[0xC9, 0]], fails: .violation(.reservedBits), deflates: true),
        Case(
            "RSV1 on a continuation",
            [Frames.frame(.text, helloCompressed, isFinal: false, isCompressed: true), [0xC0, 0]],
            fails: .violation(.reservedBits),
            deflates: true
        ),
        Case(
            "compressed text that is not UTF-8",
            [Frames.frame(.text, [0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC0, 0xAF, 0x00], isCompressed: true)],
            fails: .invalidText,
            deflates: true
        ),
        Case(
            "a compressed message cut short",
            [Frames.frame(.binary, [0xF2, 0x48, 0xCD], isCompressed: true)],
            fails: .corrupt("it is cut short"),
            deflates: true
        ),
        Case(
            "compressed beyond the limit",
            [Frames.frame(.text, helloCompressed, isCompressed: true)],
            fails: .messageTooBig(limit: 4),
            deflates: true,
            limit: 4
        ),
    ]

    @Test("a table of RFC 6455 and RFC 7692: whole, octet by octet, and cut in two at every octet", arguments: cases)
    func table(item: Case) {
        var expected = Frames.Outcome()
        expected.events = item.events
        expected.error = item.error
        switch (item.events.last, item.error) {
        case (_, let error?): expected.state = .failed(error)
        case (.closed(let reason)?, nil): expected.state = .closed(reason)
        default: expected.state = .open
        }
        let deflate = item.deflates ? DeflateAgreement() : nil
        let run = { Frames.run(item.input, cutAt: $0, deflate: deflate, limit: item.limit) }
        let whole = run([])
        expected.output = whole.output
        #expect(whole == expected)
        #expect((whole.output > 0) == (item.error != nil || whole.state != .open), "a failure and a close are answered")
        #expect(run(Array(1..<max(item.input.count, 1))) == expected)
        for cut in 1..<max(item.input.count, 1) { #expect(run([cut]) == expected, "cut at \(cut)") }
    }

    @Test("a message may come in so many fragments, empty or not, and in no more; the next is counted anew")
    func fragmentLimit() {
        let piece = { (payload: [UInt8]) in Frames.frame(.continuation, payload, isFinal: false) }
        for payload in [[], [1]] as [[UInt8]] {
            let three = Frames.frame(.binary, payload, isFinal: false) + piece(payload)
            let good = three + Frames.frame(.continuation, payload)
            let outcome = Frames.run(good + [0x89, 0] + good, cutAt: [], fragments: 3)
            #expect(outcome.events.count == 3 && outcome.error == nil)
            let bad = three + piece(payload) + [0x89, 0] + piece(payload)
            for cuts in [[], Array(1..<bad.count)] {
                let outcome = Frames.run(bad, cutAt: cuts, fragments: 3)
                #expect(outcome.error == .tooManyFragments(limit: 3) && outcome.events == [.ping([])])
            }
        }
    }

    @Test("a message of empty fragments, or of compressed blocks that hold nothing, comes to an end of its own")
    func endless() {
        let limit = WebSocketMachine.defaultFragmentCount
        let empty = Frames.frame(.text, [], isFinal: false) + Array(repeating: [0, 0], count: limit).joined()
        #expect(Frames.run(empty, cutAt: []).error == .tooManyFragments(limit: limit))
        // A block without compression and without content.
        let nothing = Array(repeating: [0x00, 0x00, 0x00, 0xFF, 0xFF] as [UInt8], count: 8_192).flatMap { $0 }
        let hollow =
            Frames.frame(.binary, nothing, isFinal: false, isCompressed: true)
            + Array(repeating: Frames.frame(.continuation, nothing, isFinal: false), count: 4).joined()
        let outcome = Frames.run(hollow, cutAt: [], deflate: DeflateAgreement(), limit: 1_000)
        #expect(outcome.error == .messageTooBig(limit: 1_000))
    }

    // MARK: Both ends

    /// Carries octets from one machine to the other, in pieces.
    private func carry(_ bytes: [UInt8], to side: Side, _ random: inout SplitMix) throws -> [WebSocketMachine.Event] {
        try side.receive(bytes) { $0 + 1 + random.below(random.below(8) == 0 ? 40_000 : 90) }
    }

    /// Of one, three and all octets.
    private static let noises: [[UInt8]] = [1, 3, 256].map { alphabet in
        var random = SplitMix(seed: 11)
        return (0...0x1_0000).map { _ in UInt8(truncatingIfNeeded: random.below(alphabet)) }
    }

    @Test("each end receives what the other sends, in either direction and whatever was agreed on", arguments: 0..<12)
    func conversation(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        var deflate: DeflateAgreement?
        if seed % 4 > 0 {
            var agreement = DeflateAgreement()
            (agreement.serverForgets, agreement.clientForgets) = (seed % 4 == 2, seed % 4 == 3)
            agreement.clientWindowBits = 8 + seed % 8
            agreement.serverWindowBits = 9 + seed % 7
            deflate = agreement
        }
        for sender in [Role.client, .server] {
            let speaker = Side(sender, deflate: deflate)
            let listener = Side(sender == .client ? .server : .client, deflate: deflate)
            var expected: [WebSocketMachine.Event] = []
            for _ in 0..<30 {
                let length = random.pick([0, 1, 5, 63, 64, 125, 126, 127, 1_000, 0xFFFF, 0x1_0000])
                switch random.below(4) {
                case 0:
                    let payload = (0..<min(length, 125)).map { UInt8(truncatingIfNeeded: $0) }
                    #expect(speaker.ping(payload))
                    expected.append(.ping(payload))
                case 1:
                    let text = String(repeating: "abcdé€😀", count: length / 20)
                    #expect(speaker.send(.text(text)))
                    expected.append(.message(.text(text)))
                default:
                    let bytes = Array(random.pick(Self.noises)[..<length])
                    #expect(speaker.send(.binary(bytes)))
                    expected.append(.message(.binary(bytes)))
                }
            }
            #expect(try carry(speaker.takeOutput(), to: listener, &random) == expected)
            #expect(listener.state == .open && !listener.hasOutput)
        }
    }

    @Test("random fragments of a message come to the same message", arguments: 0..<20)
    func fragmentation(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed) + 100)
        let machine = Side(.server, deflate: DeflateAgreement())
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        var expected: [WebSocketMachine.Event] = []
        var input: [UInt8] = []
        for number in 0..<10 {
            let message = (0..<random.below(3_000) + 1).map { _ in UInt8(random.below(100)) }
            let isCompressed = random.below(2) == 0
            let payload = isCompressed ? deflater.deflate(message.span) : message
            var (start, isFirst) = (0, true)
            repeat {
                let end = min(payload.count, start + random.below(random.pick([2, 50, 3_000])))
                let isLast = end == payload.count && random.below(2) == 0
                input += Frames.frame(
                    isFirst ? .binary : .continuation,
                    Array(payload[start..<end]),
                    isFinal: isLast,
                    isCompressed: isFirst && isCompressed,
                    masked: true
                )
                if random.below(3) == 0 {
                    input += Frames.frame(.ping, [UInt8(number)], masked: true)
                    if isLast { expected.append(.message(.binary(message))) }
                    expected.append(.ping([UInt8(number)]))
                } else if isLast {
                    expected.append(.message(.binary(message)))
                }
                (start, isFirst) = (end, false)
                if isLast { break }
            } while true
        }
        #expect(try carry(input, to: machine, &random) == expected)
    }

    @Test("a client masks every frame with a key of its own, and a server none")
    func masks() throws {
        let client = Side(.client)
        var keys: Set<[UInt8]> = []
        for _ in 0..<64 {
            #expect(client.send(.binary([0, 0, 0, 0])))
            let frame = client.takeOutput()
            #expect(frame.count == 10 && Array(frame[..<2]) == [0x82, 0x84])
            #expect(frame[2..<6] == frame[6...] || Array(frame[2..<6]) == Array(frame[6...]))
            keys.insert(Array(frame[2..<6]))
        }
        #expect(keys.count > 60)
        let server = Side(.server)
        #expect(server.send(.text("Hello")))
        #expect(server.takeOutput() == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    }

    @Test("long messages are compressed and short ones are not")
    func compresses() {
        let server = Side(.server, deflate: DeflateAgreement())
        #expect(server.send(.binary([UInt8](repeating: 1, count: WebSocketMachine.compressedLength - 1))))
        #expect(server.takeOutput()[0] == 0x82)
        #expect(server.send(.binary([UInt8](repeating: 1, count: WebSocketMachine.compressedLength))))
        let frame = server.takeOutput()
        #expect(frame[0] == 0xC2 && frame.count < 20)
    }

    @Test("a side that cannot keep to its window sends plain messages, as each may")
    func smallWindow() {
        var agreement = DeflateAgreement()
        agreement.serverWindowBits = 8
        let server = Side(.server, deflate: agreement)
        #expect(server.send(.binary([UInt8](repeating: 1, count: 1_000))))
        #expect(server.takeOutput()[0] == 0x82)
    }

    @Test("the closing handshake: a close is answered once with its own code, and nothing follows")
    func closingHandshake() throws {
        let (client, server) = (Side(.client), Side(.server))
        var random = SplitMix(seed: 9)
        let reason = try #require(CloseReason(4000, "done"))
        #expect(client.close(reason))
        #expect(client.state == .closing)
        #expect(!client.close(reason) && !client.send(.text("late")) && !client.ping([]))
        client.pong([])
        // What the server sent before it heard of it still counts.
        #expect(server.send(.text("crossing")))
        #expect(try carry(server.takeOutput(), to: client, &random) == [.message(.text("crossing"))])
        #expect(try carry(client.takeOutput(), to: server, &random) == [.closed(reason)])
        #expect(server.state == .closed(reason) && !server.send(.text("late")))
        #expect(try carry(server.takeOutput(), to: client, &random) == [.closed(reason)])
        #expect(client.state == .closed(reason) && !client.hasOutput)
    }

    @Test("two closes that cross end both sides, and neither is answered")
    func crossingCloses() throws {
        let (client, server) = (Side(.client), Side(.server))
        var random = SplitMix(seed: 10)
        let leaving = try #require(CloseReason(1001))
        #expect(client.close(.none) && server.close(leaving))
        let (fromClient, fromServer) = (client.takeOutput(), server.takeOutput())
        #expect(try carry(fromServer, to: client, &random) == [.closed(leaving)])
        #expect(try carry(fromClient, to: server, &random) == [.closed(.none)])
        #expect(!client.hasOutput && !server.hasOutput)
    }

    @Test("a failure is told with its code, unless a close was sent before")
    func failures() throws {
        let machine = Side(.server)
        let input = Frames.frame(.text, [0xFF], masked: true)
        #expect(throws: WebSocketError.invalidText) { try machine.receive(input) }
        #expect(machine.takeOutput().prefix(4) == [0x88, 2 + 22, 0x03, 0xEF])
        #expect(!machine.send(.text("")) && !machine.ping([]) && !machine.close(.none))
        let closing = Side(.server)
        #expect(closing.close(.none))
        _ = closing.takeOutput()
        #expect(throws: WebSocketError.invalidText) { try closing.receive(input) }
        #expect(!closing.hasOutput)
    }

    @Test("a ping of more than 125 octets is not sent")
    func longPing() {
        let machine = Side(.client)
        #expect(!machine.ping([UInt8](repeating: 0, count: 126)) && !machine.hasOutput)
        machine.pong([UInt8](repeating: 0, count: 126))
        #expect(!machine.hasOutput)
    }
}
