import TestSupport
import Testing

@testable import UncurlReactor

@Suite("IP addresses", .ownThread)
struct IPAddressTests {
    @Test("four decimal parts are an IPv4 address", arguments: ["0.0.0.0", "127.0.0.1", "255.255.255.255", "1.2.3.40"])
    func dotted(text: String) {
        #expect(IPv4Address(text)?.description == text)
    }

    @Test(
        "the shorthands of C are not, for programs differ on them",
        arguments: [
            "127.1", "0x7f.0.0.1", "010.0.0.1", "1.2.3.256", "1.2.3.", ".1.2.3", "1.2.3.4.5", "1.2.3.+4", "1.2.3.4 ",
            "", "2130706433", "1..2.3",
        ]
    )
    func shorthands(text: String) {
        #expect(IPv4Address(text) == nil)
    }

    @Test("IPv6 text reads and prints in its short form (RFC 5952)")
    func six() {
        #expect(IPv6Address("::1") == .loopback)
        #expect(IPv6Address("2001:DB8:0:0:0:0:0:1")?.description == "2001:db8::1")
        #expect(IPv6Address("fe80::1%7")?.scope == 7)
        #expect(IPv6Address("fe80::1%lo")?.scope == 1)
        #expect(IPv6Address("fe80::1%7")?.description == "fe80::1%7")
    }

    @Test(
        "what only begins like one is none",
        arguments: [
            "[::1]", "::1%", "::1%+1", "::1%0", "::1%nosuchinterface", "12345::", "1:2:3", "",
        ]
    )
    func notSix(text: String) {
        #expect(IPv6Address(text) == nil)
    }

    @Test("a NUL does not end the text early, as C would read it")
    func embeddedNUL() {
        #expect(IPv6Address("::1\0.evil.test") == nil)
        #expect(IPv4Address("127.0.0.1\0") == nil)
        #expect(IPv6Address("fe80::1%lo\0x") == nil)
    }

    @Test("either family is told from its text")
    func either() {
        #expect(IPAddress("127.0.0.1") == .v4(.loopback))
        #expect(IPAddress("::1")?.family == .v6)
        #expect(IPAddress("localhost") == nil)
        #expect(IPAddress("::1").map(String.init(describing:)) == "::1")
    }

    @Test("a zone with combining marks is none, and they are part of no percent sign")
    func combiningMarks() {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for text in ["::1\u{301}", "fe80::1%\u{301}", "fe80::1%lo\u{301}", run] { #expect(IPAddress(text) == nil) }
    }
}
