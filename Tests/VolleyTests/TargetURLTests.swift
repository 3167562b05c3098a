import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct TargetURLTests {
    @Test(
        "a URL is split into host, port, Host field and request-target",
        arguments: [
            ("http://127.0.0.1:8080/", "127.0.0.1:8080", "127.0.0.1:8080", "/"),
            ("http://example.com", "example.com:80", "example.com", "/"),
            ("HTTP://example.com:80/a/b?c=d&e", "example.com:80", "example.com", "/a/b?c=d&e"),
            ("http://h?q", "h:80", "h", "/?q"),
            ("http://h#frag", "h:80", "h", "/"),
            ("http://h/a#b?c#d", "h:80", "h", "/a"),
            ("http://h:/x", "h:80", "h", "/x"),
            ("http://[::1]:81/", "[::1]:81", "[::1]:81", "/"),
            ("http://[2001:DB8::1]/", "[2001:db8::1]:80", "[2001:db8::1]", "/"),
            ("http://my_host.example./", "my_host.example.:80", "my_host.example.", "/"),
            ("http://h/%20!$&'()*+,;=:@-._~", "h:80", "h", "/%20!$&'()*+,;=:@-._~"),
            ("http://h//double/../dots", "h:80", "h", "//double/../dots"),
        ]
    )
    func parts(text: String, authority: String, hostField: String, target: String) throws {
        let url = try TargetURL(text)
        #expect("\(url.host):\(url.port)" == authority)
        #expect(url.hostField == hostField)
        #expect(url.target == target)
    }

    @Test(
        "a URL that cannot be used is refused in one line that says what would be right",
        arguments: [
            ("", "the URL is empty: use one such as http://127.0.0.1:8080/"),
            ("127.0.0.1:8080", "the URL \"127.0.0.1:8080\" has no scheme: write http://HOST:PORT/ in front"),
            ("h/x?u=http://y", "the URL \"h/x?u=http://y\" has no scheme: write http://HOST:PORT/ in front"),
            ("://h/", "the URL \"://h/\" has no scheme: write http://HOST:PORT/ in front"),
            ("ftp://h/", "the URL \"ftp://h/\" has the scheme \"ftp\": use http:// or https://"),
            ("http://", "the URL \"http://\" has no host: write one such as 127.0.0.1"),
            ("http:///x", "the URL \"http:///x\" has no host: write one such as 127.0.0.1"),
            ("http://:80/", "the URL \"http://:80/\" has no host: write one such as 127.0.0.1"),
            (
                "http://me:pw@h/",
                "the URL \"http://me:pw@h/\" holds user information: leave it out and send -H 'Authorization: …' instead"
            ),
            ("http://h:0/", "the URL \"http://h:0/\" has a port out of range: use 1 to 65535"),
            ("http://h:65536/", "the URL \"http://h:65536/\" has a port out of range: use 1 to 65535"),
            ("http://h:8o/", "the URL \"http://h:8o/\" has a port that is no number: use 1 to 65535"),
            ("http://[::1]8/", "the URL \"http://[::1]8/\" has a port that is no number: use 1 to 65535"),
            ("http://::1/", "the URL \"http://::1/\" has too many colons: an IPv6 address needs brackets, [::1]"),
            ("http://[::g]/", "the URL \"http://[::g]/\" has no IPv6 address in its brackets: write [::1]"),
            ("http://[127.0.0.1]/", "the URL \"http://[127.0.0.1]/\" has no IPv6 address in its brackets: write [::1]"),
            ("http://[::1/", "the URL \"http://[::1/\" has no IPv6 address in its brackets: write [::1]"),
            (
                "http://[fe80::1%lo]/",
                "the URL \"http://[fe80::1%lo]/\" has a zone in its IPv6 address, which no URL can hold: leave it out"
            ),
            (
                "http://1.2.3/",
                "the URL \"http://1.2.3/\" has no IPv4 address for a host: write four numbers from 0 to 255"
            ),
            (
                "http://127.0.0.256/",
                "the URL \"http://127.0.0.256/\" has no IPv4 address for a host: write four numbers from 0 to 255"
            ),
            (
                "http://010.0.0.1/",
                "the URL \"http://010.0.0.1/\" has no IPv4 address for a host: write four numbers from 0 to 255"
            ),
            (
                "http://a b/",
                "the URL \"http://a b/\" has \" \" in its host: use letters, digits, dots and hyphens only"
            ),
            (
                "http://%41/",
                "the URL \"http://%41/\" has \"%\" in its host: use letters, digits, dots and hyphens only"
            ),
            (
                "http://bücher.example/",
                "the URL \"http://bücher.example/\" has \"ü\" in its host: use the ASCII form, xn--…"
            ),
            (
                "http://a..b/",
                "the URL \"http://a..b/\" has no usable host name: labels are 1 to 63 bytes, a name at most 253"
            ),
            (
                "http://h/a b",
                "the URL \"http://h/a b\" has a byte at position 11 that may not stand there: write it as %20"
            ),
            (
                "http://h/\n",
                "the URL \"http://h/\\u{a}\" has a byte at position 10 that may not stand there: write it as %0A"
            ),
            (
                "http://h/é",
                "the URL \"http://h/é\" has a byte at position 10 that may not stand there: write it as %C3"
            ),
            (
                "http://h/{x}",
                "the URL \"http://h/{x}\" has a byte at position 10 that may not stand there: write it as %7B"
            ),
            (
                "http://h/100%",
                "the URL \"http://h/100%\" has a % without two hex digits: write %25 for the sign itself"
            ),
            ("http://h/%4g", "the URL \"http://h/%4g\" has a % without two hex digits: write %25 for the sign itself"),
        ]
    )
    func refused(text: String, message: String) {
        #expect(throws: UsageError(message)) { try orUsage(try TargetURL(text)) }
    }
}
