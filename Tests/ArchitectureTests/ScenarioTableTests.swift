import Foundation
import TestSupport
import Testing

/// The forty things that go wrong for a client of HTTP, and what must come of each. A test of each bears its number as a
/// trait: `.scenario(14)`.
@Suite("Scenarios", .ownThread)
struct ScenarioTableTests {
    static let table: [(number: Int, fault: String, outcome: String)] = [
        (1, "port closed", "a refusal at once, and the next address is tried"),
        (2, "SYN swallowed", "the connect limit, to 50 ms; the descriptor is closed"),
        (3, "route unreachable or prohibited", "unreachable, the errno kept"),
        (4, "first address dead, second good", "success after one attempt delay"),
        (5, "IPv6 hangs, IPv4 takes 400 ms", "success at 650 ms; the IPv6 attempt is not given up before"),
        (6, "the AAAA look-up hangs, A is fast", "connecting begins after the resolution delay of 50 ms"),
        (7, "DNS fails, NXDOMAIN, empty, 64 addresses", "a typed error; a cap on attempts"),
        (8, "cancelled during look-up, connect, TLS", "the outcome at once; no descriptor, place or thread left"),
        (9, "EMFILE at socket()", "an idle connection makes room, else the error; the loop sleeps"),
        (10, "a storm of EINTR", "no visible effect; timers exact"),
        (11, "send takes one byte a call", "success, bytes identical"),
        (12, "recv gives one byte a call, plain and TLS", "success, bytes identical"),
        (13, "FIN before any byte, fresh connection", "closed before the response, no retry"),
        (14, "FIN before any byte, used connection, GET", "one retry on a fresh connection"),
        (15, "the same, POST", "an error; the server saw it once"),
        (16, "the same, POST called idempotent", "a retry if the body can be replayed"),
        (17, "RST before the kernel took a byte", "a retry for any method"),
        (18, "cut inside status line or fields", "a truncated head, never success"),
        (19, "cut inside content with a length", "a truncated body, both numbers told, what came delivered"),
        (20, "cut anywhere in chunked framing", "a truncated body"),
        (21, "until close: FIN, or close_notify", "success"),
        (22, "until close: FIN without close_notify, or RST", "a truncated body"),
        (23, "RST after the whole content", "success, the connection dropped"),
        (24, "stall before the head", "the idle limit; the connection is not used again"),
        (25, "a byte each 0.9 idle limits, for ever", "survives idle, ends by the total limit"),
        (26, "stall while the consumer pauses", "no limit while paused; idle begins on resuming"),
        (27, "the server stops reading an upload", "the idle limit, and RST"),
        (28, "413 and close during an upload", "the response if it arrived, else the upload's abort"),
        (29, "100 never comes; 417; a final status at once", "the body after a while; a retry without; no body"),
        (30, "103, a thousand 100s", "passed over; capped; the total limit holds"),
        (31, "bytes on an idle connection", "closed; the next request has another"),
        (32, "bytes behind the content", "the response is fine, the connection not used again"),
        (33, "FIN or close_notify on an idle connection", "gone at once; no error to anyone"),
        (34, "the keep-alive race", "no GET fails; a POST only as closed before the response"),
        (35, "garbage, an alert or plain HTTP for a ServerHello", "a TLS error that says so"),
        (
            36, "TLS: stall, split records, key update, late tickets, renegotiation",
            "a limit; fine; fine; fine; refused"
        ),
        (37, "CONNECT: 407, 502, bytes behind the 200, EOF, endless heads", "told; kept; closed; a limit"),
        (
            38, "SOCKS: split replies, reply 5, 256 bytes of host, bad version",
            "fine; refused; an error here; a protocol error"
        ),
        (39, "a descriptor's number is used again within a batch", "nobody gets another's bytes"),
        (40, "cancels and resets at random", "one outcome each; everything returns to nothing"),
    ]

    /// Numbers of the traits in a file.
    private static func numbers(in text: String) -> Set<Int> {
        var found: Set<Int> = []
        for part in text.components(separatedBy: ".scenario(").dropFirst() {
            found.formUnion(part.prefix { $0 != ")" }.split { !$0.isNumber }.compactMap { Int($0) })
        }
        return found
    }

    @Test("each of the forty has a test, and no test claims a number that is not among them")
    func complete() {
        #expect(Self.table.map(\.number) == Array(1...40))
        let claimed = SourceTree.tests.filter { !$0.path.hasSuffix("ScenarioTableTests.swift") }
            .reduce(into: Set<Int>()) { $0.formUnion(Self.numbers(in: $1.text)) }
        for row in Self.table { #expect(claimed.contains(row.number), "\(row.number): \(row.fault): \(row.outcome)") }
        #expect(claimed.isSubset(of: Self.table.map(\.number)))
    }
}
