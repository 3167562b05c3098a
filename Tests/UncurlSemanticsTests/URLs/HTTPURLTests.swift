import Testing

@testable import UncurlSemantics

@Suite("HTTP URLs")
struct HTTPURLTests {
    @Test(
        "a URL comes apart into origin and request-target",
        arguments: [
            ("http://127.0.0.1:8080/", "127.0.0.1", 8080, "127.0.0.1:8080", "/"),
            ("http://example.com", "example.com", 80, "example.com", "/"),
            ("HTTP://EXAMPLE.com:80/A?B", "example.com", 80, "example.com", "/A?B"),
            ("http://example.com./", "example.com.", 80, "example.com.", "/"),
            ("http://my_service:65535", "my_service", 65535, "my_service:65535", "/"),
            ("http://h?q", "h", 80, "h", "/?q"),
            ("http://h:", "h", 80, "h", "/"),
            ("http://h:0080/", "h", 80, "h", "/"),
            ("http://h#frag", "h", 80, "h", "/"),
            ("http://a#@b/", "a", 80, "a", "/"),
            ("http://a?@b/", "a", 80, "a", "/?@b/"),
            ("http://a/?u=http://b/#x", "a", 80, "a", "/?u=http://b/"),
            ("http://[::1]:81/", "::1", 81, "[::1]:81", "/"),
            ("http://[2001:DB8:0::1]/", "2001:db8::1", 80, "[2001:db8::1]", "/"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", 80, "[::ffff:127.0.0.1]", "/"),
            ("http://h//a/../%2e%2E/;p=1", "h", 80, "h", "//a/../%2e%2E/;p=1"),
            ("http://h/-._~!$&'()*+,;=:@/?/?", "h", 80, "h", "/-._~!$&'()*+,;=:@/?/?"),
            ("http://xn--bcher-kva.example/", "xn--bcher-kva.example", 80, "xn--bcher-kva.example", "/"),
        ]
    )
    func parts(text: String, host: String, port: UInt16, authority: String, target: String) throws {
        let url = try HTTPURL(text)
        #expect(url.origin.host == host)
        #expect(url.origin.port == port && url.port == port)
        #expect(url.origin.authority == authority)
        #expect(url.target == target)
        #expect(url.origin == (try Origin(host: host, port: port)))
        #expect(try HTTPURL(url.description) == url)
    }

    @Test(
        "what is no usable URL is refused with its reason and its place",
        arguments: [
            ("", .empty),
            ("h/x?u=http://y", .noScheme), ("127.0.0.1:8080", .noScheme), ("://h/", .noScheme), ("http:/h", .noScheme),
            ("http:h", .noScheme), (" http://h/", .scheme(" http")), ("httpss://h/", .scheme("httpss")),
            ("Ws://h/", .scheme("ws")),
            ("http://", .host(.empty, at: 7)), ("http:///x", .host(.empty, at: 7)),
            ("http://:80/", .host(.empty, at: 7)),
            // What other parsers read as another host than the one connected to.
            ("http://a@b@c/", .userInformation(at: 8)), ("http://a\\@b/", .userInformation(at: 9)),
            ("http://@h/", .userInformation(at: 7)), ("http://a\\b/", .host(.character("\\", at: 1), at: 7)),
            ("http://a%2fb/", .host(.character("%", at: 1), at: 7)),
            ("http://a\0b", .host(.character("\0", at: 1), at: 7)),
            ("http://a b", .host(.character(" ", at: 1), at: 7)),
            ("http://\tb", .host(.character("\t", at: 0), at: 7)),
            ("http://a\n.b/", .host(.character("\n", at: 1), at: 7)),
            ("http://a\r\n/", .host(.character("\r", at: 1), at: 7)),
            ("http://a。b/", .host(.character("。", at: 1), at: 7)),
            ("http://bücher/", .host(.character("ü", at: 1), at: 7)),
            ("http://h\u{10A}st/", .host(.character("\u{10A}", at: 1), at: 7)),
            ("http://\u{FF11}27.0.0.1/", .host(.character("\u{FF11}", at: 0), at: 7)),
            ("http://a!b/", .host(.character("!", at: 1), at: 7)),
            ("http://0x7f.1/", .host(.number, at: 7)), ("http://127.1/", .host(.number, at: 7)),
            ("http://0x7f000001/", .host(.number, at: 7)), ("http://2130706433/", .host(.number, at: 7)),
            ("http://127.0.0.256/", .host(.number, at: 7)), ("http://010.0.0.1/", .host(.number, at: 7)),
            ("http://1.2.3.4./", .host(.number, at: 7)),
            ("http://a..b/", .host(.length, at: 7)), ("http://.a/", .host(.length, at: 7)),
            ("http://./", .host(.length, at: 7)),
            ("http://\(String(repeating: "a", count: 64)).b/", .host(.length, at: 7)),
            ("http://[::1/", .host(.ipv6Literal, at: 7)), ("http://[]/", .host(.ipv6Literal, at: 7)),
            ("http://[127.0.0.1]/", .host(.ipv6Literal, at: 7)), ("http://[v1.x]/", .host(.ipv6Literal, at: 7)),
            ("http://[fe80::1%25eth0]/", .host(.zone, at: 7)),
            ("http://[fe80::1%lo]/", .host(.zone, at: 7)), ("http://[[::1]]/", .host(.ipv6Literal, at: 7)),
            ("http://::1/", .secondColon(at: 8)), ("http://h:80:80/", .secondColon(at: 11)),
            ("http://h:+80/", .portSyntax(at: 9)), ("http://h:8o/", .portSyntax(at: 10)),
            ("http://h:-1/", .portSyntax(at: 9)), ("http://h: 80/", .portSyntax(at: 9)),
            ("http://[::1]8/", .portSyntax(at: 12)),
            ("http://h:0/", .portRange(at: 9)), ("http://h:65536/", .portRange(at: 9)),
            ("http://h:99999999999999999999/", .portRange(at: 9)),
            ("http://h/a b", .byte(0x20, at: 10)), ("http://h/\t", .byte(0x09, at: 9)),
            ("http://h/\r\nX: y", .byte(0x0D, at: 9)), ("http://h/\0", .byte(0, at: 9)),
            ("http://h/é", .byte(0xC3, at: 9)), ("http://h/?{", .byte(0x7B, at: 10)),
            ("http://h/\u{7F}", .byte(0x7F, at: 9)),
            ("http://h/100%", .percent(at: 12)), ("http://h/%4", .percent(at: 9)), ("http://h/%4g", .percent(at: 9)),
            ("http://h/%4#1", .percent(at: 9)),
        ] as [(String, HTTPURL.Problem)]
    )
    func refused(text: String, problem: HTTPURL.Problem) {
        #expect(throws: problem) { try HTTPURL(text) }
        #expect(!problem.description.isEmpty && !problem.description.contains("\n"))
    }

    @Test("no prefix of a URL and no octet in any place of it gets a blank or a control character onto the wire")
    func everyByteEverywhere() {
        let good = Array("http://[::1]:80/a%20b?c".utf8)
        var accepted = 0
        for position in good.indices {
            _ = try? HTTPURL(String(decoding: good[..<position], as: UTF8.self))
            for byte in UInt8.min...UInt8.max {
                var bytes = good
                bytes[position] = byte
                guard let url = try? HTTPURL(String(decoding: bytes, as: UTF8.self)) else { continue }
                accepted += 1
                let isClean = url.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                if !isClean { Issue.record("\(bytes)") }
            }
        }
        #expect(accepted > 100)
    }

    @Test("a scheme with combining marks is another scheme")
    func combiningMarks() {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for scheme in ["http\u{301}", run] {
            #expect(throws: HTTPURL.Problem.scheme(scheme)) { try HTTPURL(scheme + "://a.test/") }
        }
    }

    @Test("a URL that is read beside another is what it is when it is read alone, refused or not")
    func near() throws {
        let starts = ["http://a.test", "http://a.test:80", "https://a.test", "HTTP://a.test", "http://[::1]:81"]
        let rests = [
            "", "/", "/b?c=%20#d", "?q", "#f", ":80/", ":81/", "@evil.test/", ".evil.test/", "evil/", "\\@x/", "/%4",
            "/%4#1", "/é", "/ ", "%2F/", "//x", "/?@b/",
        ]
        let all = starts.flatMap { start in rests.map { start + $0 } }
        func read(_ text: String, near other: HTTPURL?) -> Result<HTTPURL, HTTPURL.Problem> {
            Result { () throws(HTTPURL.Problem) in try HTTPURL(text, near: other) }
        }
        for start in starts {
            let other = try HTTPURL(start + "/other")
            for text in all {
                let (one, two) = (read(text, near: nil), read(text, near: other))
                #expect(one == two, "\(text) beside \(start)")
                #expect((try? one.get())?.host == (try? two.get())?.host)
            }
        }
    }

    @Test(
        "a text is mended as browsers do: without user information, encoded, a WebSocket's as its handshake's",
        arguments: [
            ("http://u:p@a.test/x", "http://a.test/x"), ("http://a@b@c.test", "http://c.test/"),
            ("ws://a.test/c", "http://a.test/c"), ("WSS://u@a.test:444/c", "https://a.test:444/c"),
            ("http://a.test/a b?ü={%zz}&%20#x y#z", "http://a.test/a%20b?%C3%BC=%7B%25zz%7D&%20"),
            ("http://a.test/%4#1", "http://a.test/%254"), ("http://a.test/[x]?[y]", "http://a.test/%5Bx%5D?%5By%5D"),
        ]
    )
    func mended(text: String, expected: String) throws {
        #expect(try HTTPURL(mending: text).description == expected)
    }

    @Test("what cannot be mended is refused as it would be by itself")
    func notMended() {
        for (text, problem) in [
            ("ftp://a.test/", HTTPURL.Problem.scheme("ftp")), ("wsx://a.test/", .scheme("wsx")), ("data:,x", .noScheme),
            ("http://127.1/", .host(.number, at: 7)), ("http://u@a..b/", .host(.length, at: 7)),
            ("http://a.test:0/", .portRange(at: 14)),
        ] {
            #expect(throws: problem, "\(text)") { try HTTPURL(mending: text) }
        }
    }

    @Test("a written URL has the origin of the request that it stands for, or none")
    func origins() throws {
        let origin = try Origin(scheme: .https, host: "a.test", port: 443)
        for text in ["https://a.test", "HTTPS://u:p@A.test:443/x#y", "wss://a.test:/", "https://a.test:0443?q"] {
            #expect(URIReference(text).origin == origin, "\(text)")
        }
        #expect(URIReference("http://[0::1]:81/").origin?.description == "http://[::1]:81")
        for text in [
            "ftp://a.test/", "https:///x", "https://a..b/", "https://a.test:65536/", "https://a.test:x/", "/x", "",
        ] {
            #expect(URIReference(text).origin == nil, "\(text)")
        }
    }

    @Test("an authority may have the form of a server's where no request can be sent")
    func servers() {
        for text in ["http://127.1/", "http://a%41b/", "http://[v1.x]:80", "http://a..b:/", "http://a:70000"] {
            #expect(URIReference(text).namesServer, "\(text)")
        }
        for text in ["http:///", "http://:80/", "http://u@/", "http://a b/", "http://a:x/", "http://\u{e4}/"] {
            #expect(!URIReference(text).namesServer, "\(text)")
        }
    }
}
