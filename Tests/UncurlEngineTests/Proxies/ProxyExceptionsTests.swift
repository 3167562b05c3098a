import Testing
import UncurlEngine

@Suite("Proxy exceptions")
struct ProxyExceptionsTests {
    @Test(
        "a host is covered by its own name, by a suffix of whole labels, by its address or its network",
        arguments: [
            ("example.com", "example.com"), ("example.com", "www.example.com"), ("example.com", "a.b.example.com"),
            (".example.com", "example.com"), (".example.com", "www.example.com"), ("example.com.", "example.com"),
            ("example.com", "example.com."), (".example.com.", "www.example.com."), ("EXAMPLE.com", "www.example.com"),
            ("com", "example.com"), ("localhost", "localhost"), ("a,b,example.com", "example.com"),
            ("a b\texample.com", "example.com"), (" , ,example.com, ", "example.com"),
            ("127.0.0.1", "127.0.0.1"), ("10.0.0.0/8", "10.1.2.3"), ("10.1.2.3/8", "10.9.9.9"),
            ("192.168.0.0/31", "192.168.0.1"), ("192.168.0.7/32", "192.168.0.7"), ("0.0.0.0/0", "8.8.8.8"),
            ("::1", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("fd00::/8", "fdff::1"), ("2001:db8::/33", "2001:db8:7fff::"),
            ("2001:db8::/127", "2001:db8::1"), ("2001:db8::1/128", "2001:db8::1"), ("::/0", "2001:db8::1"),
            ("2001:db8::/64", "2001:db8::ffff:0:0:1"), ("fe80::/10", "fe80::1%1"), ("localhost", "localhost."),
            ("*", "anything"), ("*", "10.0.0.1"),
        ]
    )
    func covered(list: String, host: String) { #expect(ProxyExceptions(list).covers(host)) }

    @Test(
        "nothing else is covered: no part of a label, no port, no wildcard in a list, no name for an address",
        arguments: [
            ("example.com", "nonexample.com"), ("example.com", "example.org"), ("www.example.com", "example.com"),
            ("example.com", "example.com.evil"), ("example.com:80", "example.com"),
            ("*.example.com", "www.example.com"),
            ("*,a", "b"), ("a *", "b"), ("", "a"), (".", "a"), (",", "a"), ("..com", "example.com"),
            ("127.0.0.1", "127.0.0.10"), ("0.1", "10.0.0.1"), ("10.0.0.0/8", "11.0.0.1"), ("10.0.0.0/33", "10.0.0.1"),
            ("10.0.0.0/", "10.0.0.0"), ("10.0.0.0/-1", "10.0.0.0"), ("10.0.0.0/8/8", "10.0.0.0"),
            ("10.0.0.0/99999999999999999999", "10.0.0.0"), ("192.168.0.0/31", "192.168.0.2"),
            ("[::1]", "::1"), ("::1", "::2"), ("fd00::/8", "fe00::1"), ("2001:db8::/33", "2001:db8:8000::"),
            ("2001:db8::/127", "2001:db8::2"), ("::/0", "10.0.0.1"), ("0.0.0.0/0", "::1"), ("::/129", "::1"),
            ("127.0.0.1", "localhost"), ("localhost", "127.0.0.1"),
            ("example.com", "::1%25.example.com"), ("example.com", "fe80::1%x.example.com"),
            ("127.0.0.1", "::ffff:127.0.0.1"),
        ]
    )
    func uncovered(list: String, host: String) { #expect(!ProxyExceptions(list).covers(host)) }

    @Test("a host that is too long for a name of the DNS is covered by no name")
    func longHosts() {
        let list = ProxyExceptions("example.com")
        let longest = String(repeating: "a.", count: 121) + "example.com."
        #expect(longest.utf8.count == 254)
        #expect(list.covers(longest))
        #expect(!list.covers("a" + longest))
        #expect(!list.covers(String(repeating: ".", count: 65_000) + "example.com"))
        #expect(ProxyExceptions("*").covers("a" + longest))
    }

    @Test("an empty list covers nothing")
    func empty() { #expect(!ProxyExceptions().covers("localhost")) }

    @Test("a member that is not ASCII covers no host")
    func otherLetters() {
        // The Kelvin sign is a k in lower case.
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        let list = ProxyExceptions("\u{212A}.test, a.test\u{301}, \(run), *\u{301}, 10.0.0.0/8\u{301}, b.test")
        #expect(list.covers("b.test"))
        for host in ["k.test", "a.test", "10.0.0.1", run, "\u{212A}.test"] { #expect(!list.covers(host)) }
        #expect(!ProxyExceptions("*\u{301}").covers("a"))
    }
}
