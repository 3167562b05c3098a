import TestSupport
import Testing
import UncurlTLS

@Suite("ServerName", .ownThread)
struct ServerNameTests {
    @Test(
        "a host is made ready for comparison, and only a name is sent in SNI",
        arguments: [
            ("a.test", "a.test", true), ("A.TEST.", "a.test", true), ("localhost", "localhost", true),
            ("xn--bcher-kva.test", "xn--bcher-kva.test", true), ("my_host", "my_host", true),
            ("a-b.test", "a-b.test", true),
            ("192.0.2.1", "192.0.2.1", false), ("[2001:DB8::1]", "2001:db8::1", false), ("::1", "::1", false),
        ] as [(String, String, Bool)]
    )
    func names(host: String, text: String, isSent: Bool) throws {
        let name = try ServerName(host)
        #expect(name.text == text)
        #expect(name.isAddress == !isSent)
        #expect(name.indication == (isSent ? text : nil))
    }

    @Test(
        "what no certificate can be checked for is refused",
        arguments: [
            "", ".", "..", ".a.test", "a..test", "a.test..", "a b", "a\0b", "*.a.test", "bücher.test", "a/b", "a:80",
            "[a.test]", "[::1",
            "::1]", "fe80::1%eth0", "1.2.3", "1.2.3.4.5", "256.1.1.1", "a.1", "0x7f.1", "[]",
            String(repeating: "a", count: 64) + ".test", String(repeating: "a.", count: 128),
        ]
    )
    func refused(host: String) {
        #expect(throws: TLSError.invalidServerName(host)) { try ServerName(host) }
    }

    @Test("the longest name there can be is taken")
    func longest() throws {
        let label = String(repeating: "a", count: 63)
        let name = "\(label).\(label).\(label).\(String(repeating: "b", count: 61))"
        #expect(name.utf8.count == 253)
        #expect(try ServerName(name + ".").text == name)
        #expect(throws: TLSError.self) { try ServerName(name + "b") }
    }
}
