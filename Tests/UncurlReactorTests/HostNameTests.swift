import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Host names", .ownThread)
struct HostNameTests {
    @Test("equal names share one spelling; a trailing dot stays for the look-up")
    func spelling() throws {
        #expect(try HostName("EXAMPLE.Test") == HostName("example.test"))
        #expect(try HostName("example.test.").text == "example.test.")
        #expect(try HostName("example.test.").bare == "example.test")
    }

    @Test("what is no name is refused before anybody is asked")
    func refusals() {
        #expect(throws: ResolveError.emptyName) { try HostName("") }
        #expect(throws: ResolveError.emptyName) { try HostName(".") }
        #expect(throws: ResolveError.nameTooLong) { try HostName(String(repeating: "a.", count: 128)) }
        #expect(throws: ResolveError.invalidName) { try HostName("good.test\0.evil.test") }
        #expect(throws: ResolveError.invalidName) { try HostName("two words") }
        #expect(throws: ResolveError.invalidName) { try HostName("line\n") }
    }

    @Test("253 bytes are a name, with a trailing dot as well")
    func longest() throws {
        let name = String(repeating: "a.", count: 126) + "a"
        #expect(name.utf8.count == 253)
        _ = try HostName(name)
        _ = try HostName(name + ".")
        #expect(throws: ResolveError.nameTooLong) { try HostName(name + "a") }
    }

    @Test(
        "a number in the last label is what C would make an address of, and no name",
        arguments: [
            "127.1", "2130706433", "0x7f.1", "0x7F000001", "010.0.0.1", "127.0.0.1.", "1.2.3.4.5", "0x", "a.08",
        ]
    )
    func numbers(text: String) {
        #expect(throws: ResolveError.invalidName) { try HostName(text) }
    }

    @Test("digits elsewhere are fine", arguments: ["1.example", "3com.test", "0xyz", "a1", "1a"])
    func digits(text: String) throws {
        _ = try HostName(text)
    }

    @Test("localhost and everything below it is this machine (RFC 6761 §6.3)")
    func localhost() throws {
        for name in ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."] {
            #expect(try HostName(name).isLocalhost)
        }
        for name in ["localhost.test", "notlocalhost", "localhost.localdomain"] {
            #expect(try !HostName(name).isLocalhost)
        }
    }

    @Test("a trailing dot is one, whatever stands before it")
    func dotBehindSign() throws {
        // Swift counts an Arabic number sign and what follows it as one character.
        #expect(try HostName("a\u{600}.").bare == "a\u{600}")
    }
}
