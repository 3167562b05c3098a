import Testing
import UncurlHTTP1

@Suite struct FieldListTests {
    @Test(
        "a list is split at commas outside quotes, and empty members are skipped",
        arguments: [
            ("a, b", ["a", "b"]), ("a,,b", ["a", "b"]), (", ,", []), ("", []), ("\"x,y\", z", ["\"x,y\"", "z"]),
            ("\"a\\\",b\", c", ["\"a\\\",b\"", "c"]), ("\"unclosed, x", ["\"unclosed, x"]),
            ("a\t,\tb c ", ["a", "b c"]),
            ("\"\\", ["\"\\"]), (",a", ["a"]), ("\"x\\", ["\"x\\"]),
        ]
    )
    func members(value: String, members: [String]) throws {
        #expect(try fields("L: \(value)").listMembers(of: "l") == members)
    }

    @Test("a member is found over all lines, without case")
    func tokens() throws {
        let fields = try fields("Connection: foo, CLOSE", "X: y", "connection: \"keep-alive\", Upgrade")
        #expect(fields.hasToken(.connection, "close") && fields.hasToken(.connection, "upgrade"))
        #expect(!fields.hasToken(.connection, "keep-alive") && !fields.hasToken(.upgrade, "foo"))
    }
}

@Suite struct PersistenceTests {
    @Test(
        "the version and every Connection line decide whether the connection lives on",
        arguments: [
            ("1.1", "", Persistence.keepAlive), ("1.0", "", .close), ("1.1", "Connection: close\r\n", .close),
            ("1.1", "Connection: foo, CLOSE\r\n", .close), ("1.1", "Connection: keep-alive, close\r\n", .close),
            ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", .close),
            ("1.1", "Connection: Keep-Alive\r\n", .keepAlive),
            ("1.0", "Connection: Keep-Alive\r\n", .keepAlive), ("1.0", "Connection: keep-alive, close\r\n", .close),
            ("1.1", "Connection: closed\r\n", .keepAlive), ("1.1", "X-Connection: close\r\n", .keepAlive),
            ("1.9", "", .keepAlive), ("1.1", "Connection: \"close\"\r\n", .keepAlive),
        ]
    )
    func decide(version: String, fields: String, persistence: Persistence) throws {
        let input = octets("HTTP/\(version) 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n")
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        _ = try parser.parse(input.span, into: &head)
        #expect(parser.persistence == persistence)
    }

    @Test("a body that ends with the connection ends it")
    func untilClose() throws {
        let input = octets("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n")
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        _ = try parser.parse(input.span, into: &head)
        #expect(parser.persistence == .close)
    }

    @Test(
        "Keep-Alive is read as a hint, junk in it ignored",
        arguments: [
            ("timeout=5, max=100", 5, 100), ("max=1", nil, 1), ("TIMEOUT = 7", 7, nil), ("timeout=x, max=-1", nil, nil),
            ("timeout=99999999999", 4_294_967_295, nil), ("foo, timeout=3;x", nil, nil),
            ("timeout=3, timeout=4", 4, nil),
        ] as [(String, UInt32?, UInt32?)]
    )
    func hints(value: String, timeout: UInt32?, max: UInt32?) throws {
        let hint = try KeepAliveHint(fields("Keep-Alive: \(value)"))
        #expect(hint?.timeout == timeout && hint?.max == max)
        #expect(try KeepAliveHint(fields("X: y")) == nil)
    }
}
