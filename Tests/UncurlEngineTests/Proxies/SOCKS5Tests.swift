import TestSupport
import Testing
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

@Suite("SOCKS5")
struct SOCKS5Tests {
    private let credentials = Credentials(user: "user", password: "pass")

    /// What was sent, and what was left of the input, once all of `input` has been fed in pieces of `size`.
    private struct Outcome: Equatable {
        var sent: [[UInt8]] = []
        var isOpen = false
        var surplus: [UInt8] = []
    }

    private func run(
        _ input: [UInt8],
        to target: String = "example.com",
        port: UInt16 = 443,
        as credentials: Credentials? = nil,
        piece size: Int = .max
    ) throws(SOCKS5Error) -> Outcome {
        var machine = try SOCKS5(to: target, port: port, credentials: credentials)
        var outcome = Outcome(sent: [machine.greeting])
        var start = 0
        while start < input.count, !outcome.isOpen {
            let end = size < input.count - start ? start + size : input.count
            let piece = Array(input[start..<end])
            var offset = 0
            while let bytes = try machine.receive(piece.span, from: &offset) { outcome.sent.append(bytes) }
            outcome.isOpen = machine.isOpen
            #expect(outcome.isOpen || offset == piece.count)
            start += offset
        }
        outcome.surplus = Array(input[start...])
        return outcome
    }

    @Test("without credentials one method is on offer, and the request carries the name")
    func plain() throws {
        let outcome = try run([5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 4, 56])
        #expect(outcome.sent == [[5, 1, 0], [5, 1, 0, 3, 11] + "example.com".utf8 + [1, 187]])
        #expect(outcome.isOpen && outcome.surplus == [])
    }

    @Test("addresses go as addresses, most significant octet first")
    func addresses() throws {
        let answer: [UInt8] = [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        var outcome = try run(answer, to: "192.0.2.1", port: 80)
        #expect(outcome.sent.last == [5, 1, 0, 1, 192, 0, 2, 1, 0, 80])
        outcome = try run(answer, to: "2001:db8::1%7", port: 8080)
        #expect(
            outcome.sent.last == [5, 1, 0, 4, 0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1, 0x1F, 0x90]
        )
    }

    @Test("credentials are offered, and sent if the proxy asks for them")
    func login() throws {
        let outcome = try run([5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0], as: credentials)
        #expect(outcome.sent[0] == [5, 2, 0, 2])
        #expect(outcome.sent[1] == [1, 4] + "user".utf8 + [4] + "pass".utf8)
        #expect(outcome.sent.count == 3 && outcome.isOpen)
        // A proxy that knows us by our address need not ask.
        let open = try run([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0], as: credentials)
        #expect(open.sent.count == 2 && open.isOpen)
    }

    @Test(
        "every reply may come in pieces of any size, of every kind of address, and what follows is left",
        .scenario(38)
    )
    func splits() throws {
        let addresses: [[UInt8]] = [
            [1, 10, 0, 0, 1], [4] + Array(repeating: 9, count: 16), [3, 3] + "a.b".utf8, [3, 0],
            [3, 255] + Array(repeating: 0x61, count: 255),
        ]
        for address in addresses {
            let input: [UInt8] = [5, 2, 1, 0, 5, 0, 0] + address + [1, 2] + "HTTP/1.1".utf8
            let whole = try run(input, as: credentials)
            #expect(whole.isOpen && whole.surplus == Array("HTTP/1.1".utf8))
            for size in 1..<min(input.count, 24) { #expect(try run(input, as: credentials, piece: size) == whole) }
            for end in 0..<(input.count - 8) {
                #expect(try !run(Array(input[..<end]), as: credentials).isOpen)
            }
        }
    }

    @Test(
        "a name of 255 octets is sent, one of 256 or of none is an error here and is looked up nowhere",
        .scenario(38)
    )
    func lengths() throws {
        let longest = String(repeating: "a", count: 255)
        let outcome = try run([5, 0], to: longest)
        #expect(outcome.sent.last == [5, 1, 0, 3, 255] + longest.utf8 + [1, 187])
        #expect(throws: SOCKS5Error.hostLength(256)) { try run([], to: longest + "a") }
        #expect(throws: SOCKS5Error.hostLength(0)) { try run([], to: "") }
        let long = longest + "a"
        for bad in [("", "p"), ("u", ""), (long, "p"), ("u", long)] {
            #expect(throws: SOCKS5Error.credentialsLength) {
                try run([], as: Credentials(user: bad.0, password: bad.1))
            }
        }
    }

    @Test(
        "the eight refusals have names, and the first two octets tell them",
        .scenario(38),
        arguments: [
            (1, "general failure"), (2, "not allowed"), (3, "network unreachable"), (4, "host unreachable"),
            (5, "connection refused"), (6, "time to live expired"), (7, "command not supported"),
            (8, "address type not supported"), (9, "unassigned reply 9"), (255, "unassigned reply 255"),
        ] as [(UInt8, String)]
    )
    func refusals(code: UInt8, words: String) {
        let error = SOCKS5Error.refused(reply: code)
        #expect(throws: error) { try run([5, 0, 5, code]) }
        #expect(throws: error) { try run([5, 0, 5, code], piece: 1) }
        #expect(error.description.contains(words))
    }

    @Test(
        "what breaks the protocol is told as soon as it shows",
        .scenario(38),
        arguments: [
            ([4], .version(4)), (Array("HTTP/1.1 400".utf8), .version(0x48)), ([5, 0, 4], .version(4)),
            ([5, 1], .method(1)), ([5, 2], .method(2)), ([5, 0x80], .method(0x80)), ([5, 0xFF], .noAcceptableMethod),
            ([5, 0, 5, 0, 0, 2], .addressType(2)), ([5, 0, 5, 0, 0, 0], .addressType(0)),
        ] as [([UInt8], SOCKS5Error)]
    )
    func violations(input: [UInt8], error: SOCKS5Error) {
        #expect(throws: error) { try run(input) }
        #expect(throws: error) { try run(input, piece: 1) }
    }

    @Test("a rejected log-in is one, and its version is its own")
    func rejected() {
        #expect(throws: SOCKS5Error.loginRejected) { try run([5, 2, 1, 1], as: credentials) }
        #expect(throws: SOCKS5Error.loginRejected) { try run([5, 2, 1, 255], as: credentials) }
        #expect(throws: SOCKS5Error.version(5)) { try run([5, 2, 5, 0], as: credentials) }
    }
}
