import Testing
import UncurlSemantics

@testable import UncurlSemantics

@Suite("Hosts")
struct URLHostTests {
    @Test("a host is a name in lower case, or an address in its one spelling")
    func kinds() throws {
        for (text, bare, isAddress) in [
            ("Example.COM", "example.com", false), ("127.0.0.1", "127.0.0.1", true), ("[::1]", "::1", true),
            ("0:0::1", "::1", true),
        ] {
            let host = try URLHost(text)
            #expect(host.bare == bare && host.isAddress == isAddress, "\(text)")
        }
        #expect(try URLHost("[::1]").description == "[::1]")
    }

    @Test("a name's length is that of DNS: labels of 63 octets, 253 in all, a trailing dot beside")
    func lengths() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(try URLHost(longest + ".").bare == longest + ".")
        #expect(throws: URLHost.Problem.length) { try URLHost(longest + "b") }
        #expect(throws: URLHost.Problem.length) { try URLHost(label + "a") }
    }

    @Test("a zone is for the socket, never for the wire")
    func zones() throws {
        let origin = try Origin(host: "fe80::1%1", port: 8080)
        #expect(origin.host == "fe80::1%1")
        #expect(origin.authority == "[fe80::1]:8080")
    }

    @Test("an origin says what is wrong with its host")
    func origins() {
        #expect(throws: URLHost.Problem.number) { try Origin(host: "127.1") }
        #expect(throws: URLHost.Problem.character(" ", at: 1)) { try Origin(host: "a b") }
    }

    @Test("a bracket with a combining mark behind it is still a bracket")
    func combiningMarks() {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for text in ["[\u{301}]", "[::1\u{301}]", "[\(run)]", "[\(run)"] {
            #expect(throws: URLHost.Problem.ipv6Literal) { try URLHost(text) }
        }
        #expect(throws: URLHost.Problem.character("\u{301}", at: 0)) { try URLHost(run) }
    }
}
