import Testing
import UncurlReactor

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct SourceAddressesTests {
    private func texts(_ arguments: String...) throws -> [String] {
        try LoadOptions.sources(arguments).map { "\($0)" }
    }

    @Test("single addresses, comma lists and repeated flags add up in order")
    func lists() throws {
        #expect(try texts("127.0.0.3,127.0.0.1", "127.0.0.2") == ["127.0.0.3:0", "127.0.0.1:0", "127.0.0.2:0"])
        #expect(try texts("::1") == ["[::1]:0"])
    }

    @Test("an IPv4 block gives its hosts, without the network's and the broadcast address")
    func blocks() throws {
        let block = try texts("127.0.0.9/28")
        #expect(block.count == 14)
        #expect(block.first == "127.0.0.1:0")
        #expect(block.last == "127.0.0.14:0")
        #expect(try texts("10.0.0.6/31") == ["10.0.0.6:0", "10.0.0.7:0"])
        #expect(try texts("10.0.0.6/32") == ["10.0.0.6:0"])
        #expect(try texts("127.1.0.0/16").count == 65_534)
    }

    @Test("an IPv6 block gives all of its addresses")
    func sixBlocks() throws {
        #expect(try texts("fd00::ff/126") == ["[fd00::fc]:0", "[fd00::fd]:0", "[fd00::fe]:0", "[fd00::ff]:0"])
        #expect(try texts("fd00::/112").count == 65_536)
    }

    @Test(
        "a malformed address or an unusable block is refused",
        arguments: [
            (
                "localhost",
                "--source-address \"localhost\" is not an IP address: use one such as 127.0.0.2, or a block such as 127.0.0.0/28"
            ),
            (
                "127.0.0.1,",
                "--source-address \"\" is not an IP address: use one such as 127.0.0.2, or a block such as 127.0.0.0/28"
            ),
            ("127.0.0.0/33", "--source-address \"127.0.0.0/33\" has a bad prefix length: use a number from 0 to 32"),
            ("127.0.0.0/", "--source-address \"127.0.0.0/\" has a bad prefix length: use a number from 0 to 32"),
            ("127.0.0.0/+8", "--source-address \"127.0.0.0/+8\" has a bad prefix length: use a number from 0 to 32"),
            ("::1/129", "--source-address \"::1/129\" has a bad prefix length: use a number from 0 to 128"),
            ("127.0.0.0/8", "--source-address \"127.0.0.0/8\" makes more than 65536 addresses: use a smaller block"),
            ("::/0", "--source-address \"::/0\" makes more than 65536 addresses: use a smaller block"),
            (
                "127.0.0.0/16,127.1.0.0/16",
                "--source-address \"127.0.0.0/16,127.1.0.0/16\" makes more than 65536 addresses: use a smaller block"
            ),
            ("127.0.0.1,::1", "--source-address mixes IPv4 and IPv6: use addresses of one family"),
        ]
    )
    func refused(text: String, message: String) {
        #expect(throws: UsageError(message)) { try LoadOptions.sources([text]) }
    }

    @Test("an address of another machine is refused before a run, and one of this machine is accepted")
    func foreign() throws {
        try options("--source-address", "127.0.0.0/28", "http://h/").checkSources()
        // RFC 5737 §3: for documentation, so nobody's.
        #expect(
            throws: UsageError(
                "--source-address 192.0.2.1 cannot be connected from: Cannot assign requested address (EADDRNOTAVAIL): "
                    + "use one of this machine's (`ip address`)"
            )
        ) {
            let load = try options("--source-address", "127.0.0.2,192.0.2.1", "http://h/")
            try orUsage(try load.checkSources())
        }
    }
}
