import TLS
import Testing

@Suite("ServerName")
struct ServerNameTests {
    @Test(
        "names are lower-cased and lose one trailing dot",
        arguments: [
            ("example.test", "example.test"), ("Example.TEST.", "example.test"), ("a_b.test", "a_b.test"),
            ("xn--bcher-kva.test", "xn--bcher-kva.test"), ("localhost", "localhost"), ("1.2.3", "1.2.3"),
        ]
    )
    func names(host: String, text: String) throws {
        let name = try ServerName(host)
        #expect(name.text == text)
        #expect(name.indication == text)
        #expect(!name.isAddress)
    }

    @Test(
        "addresses are never indicated",
        arguments: ["127.0.0.1", "[::1]", "::1", "[2001:DB8::1]", "255.255.255.255"]
    )
    func addresses(host: String) throws {
        let name = try ServerName(host)
        #expect(name.isAddress)
        #expect(name.indication == nil)
        #expect(!name.text.contains("["))
    }

    @Test(
        "what no certificate can be checked for is refused",
        arguments: [
            "", ".", "..", ".example.test", "a b", "a\u{0}b", "bücher.test", "a/b", "a:443", "[::1", "[fe80::1%eth0]",
            "*.test",
            "a..", String(repeating: "a", count: 254),
        ]
    )
    func refused(host: String) {
        #expect(throws: TLSError.invalidServerName(host)) { try ServerName(host) }
    }
}
