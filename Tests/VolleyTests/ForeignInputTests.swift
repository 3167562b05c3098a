import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import volley

/// Requests in the formats of other programs.
@Suite("Inputs of other programs", .ownThread)
struct ForeignInputTests {
    private func complaint(_ format: InputFormat, _ text: String) -> String {
        do {
            _ = try drafts(format, text)
            return ""
        } catch {
            return "\(error)"
        }
    }

    private func told(_ draft: RequestDraft) -> [String] {
        [draft.method, draft.url] + draft.headers + [draft.body.map { String(decoding: $0, as: UTF8.self) } ?? "-"]
    }

    @Test(
        "curl's command lines are read as requests",
        arguments: [
            ("curl http://h/a", ["GET", "http://h/a", "-"]), ("curl -sSL h:81/a#x", ["GET", "http://h:81/a", "-"]),
            (
                #"curl -XPUT 'http://h/a b' -H 'A: b c' --data-raw '@x'"#,
                ["PUT", "http://h/a%20b", "A: b c", "Content-Type: application/x-www-form-urlencoded", "@x"]
            ),
            (
                "curl http://h/ \\\n  -d a=1 \\\n  -d 'b=2' --compressed # end",
                [
                    "POST", "http://h/", "Accept-Encoding: deflate, gzip",
                    "Content-Type: application/x-www-form-urlencoded", "a=1&b=2",
                ]
            ),
            (
                #"curl --url=http://h/ --json '{"a":"\u00e9"}' -u u:p"#,
                [
                    "POST", "http://h/", "Authorization: Basic dTpw", "Content-Type: application/json",
                    "Accept: application/json", #"{"a":"\u00e9"}"#,
                ]
            ),
            (
                #"curl 'http://h/' --data-raw $'a\'b\u0021\n' -H 'Content-Type: x'"#,
                ["POST", "http://h/", "Content-Type: x", "a'b!\n"]
            ),
            (
                #"curl -G http://h/?q=1 --data-urlencode "a=b c&d" -b x=1 -A me -e there"#,
                ["GET", "http://h/?q=1&a=b%20c%26d", "Cookie: x=1", "User-Agent: me", "Referer: there", "-"]
            ),
            ("curl -Gd a=1 http://h/", ["GET", "http://h/?a=1", "-"]),
            ("curl -GsXPUT http://h/ -d a=1", ["PUT", "http://h/?a=1", "-"]),
            ("curl -sSIo /dev/null http://h/", ["HEAD", "http://h/", "-"]),
            (#"curl -I -o /dev/null -m5 "http://h/\"q\"""#, ["HEAD", "http://h/%22q%22", "-"]),
            ("curl 'http://h/?a=1#x' -H 'X-Empty;' -H 'Y: '", ["GET", "http://h/?a=1", "X-Empty:", "-"]),
            (
                #"curl 'http://h/g?ids\[\]=1&\{a\}' --compressed --compressed"#,
                ["GET", "http://h/g?ids%5B%5D=1&%7Ba%7D", "Accept-Encoding: deflate, gzip", "-"]
            ),
            ("curl -g 'http://[::1]:80/g?ids[]=1'", ["GET", "http://[::1]:80/g?ids%5B%5D=1", "-"]),
            (
                "curl 'http://[::1]:80/{{counter}}' -G -d 'a[]=|'",
                ["GET", "http://[::1]:80/{{counter}}?a%5B%5D=%7C", "-"]
            ),
            ("curl http://h/ -H 'Content-Type:' -d a=1", ["POST", "http://h/", "a=1"]),
            (
                "curl http://h/ -b a=1 -A me -b 'b=2; c=3' -A you",
                ["GET", "http://h/", "Cookie: a=1; b=2; c=3", "User-Agent: you", "-"]
            ),
            (
                "curl http://h/ -b a=1 -H 'Cookie: b=2' -u u:p -H authorization:",
                ["GET", "http://h/", "Cookie: b=2", "-"]
            ),
        ]
    )
    func curl(line: String, expected: [String]) throws {
        #expect(try drafts(.curl, "# a comment\n\n\(line)\n").map(told) == [expected])
    }

    @Test(
        "content and its type are those that curl sends: JSON gets no separator, and -d alone changes a file",
        arguments: [
            ("-d @FILE", [0xFF, 0x41], "application/x-www-form-urlencoded"),
            ("--data-ascii @FILE -d b", [0xFF, 0x41, 0x26, 0x62], "application/x-www-form-urlencoded"),
            ("--data-binary @FILE", file, "application/x-www-form-urlencoded"),
            ("--data-urlencode @FILE", escapedFile, "application/x-www-form-urlencoded"),
            ("--data-urlencode n@FILE", Array("n=".utf8) + escapedFile, "application/x-www-form-urlencoded"),
            ("--data-urlencode =a=b", Array("a%3Db".utf8), "application/x-www-form-urlencoded"),
            ("--data-urlencode n=@x", Array("n=%40x".utf8), "application/x-www-form-urlencoded"),
            ("--data-urlencode 'a b'", Array("a%20b".utf8), "application/x-www-form-urlencoded"),
            ("--json @FILE", file, "application/json"),
            ("--json '{\"a\":' --json 1}", Array(#"{"a":1}"#.utf8), "application/json"),
            ("-d x --json y", Array("xy".utf8), "application/json"),
            ("--json y -d x", Array("y&x".utf8), "application/json"),
            ("--json 1 -H 'Content-Type: z'", [0x31], "z"),
        ]
    )
    func content(options: String, body: [UInt8], type: String) throws {
        let file = TemporaryFile(Self.file)
        let line = "curl http://h/ " + options.replacing("@FILE", with: "@" + file.path)
        let draft = try #require(try drafts(.curl, line).first)
        #expect(draft.body == body)
        #expect(draft.headers.filter { $0.hasPrefix("Content-Type: ") } == ["Content-Type: \(type)"])
    }

    /// A file with line ends, a zero, and a byte that is no UTF-8.
    private static let file: [UInt8] = [0xFF, 13, 10, 0, 0x41, 10]
    private static let escapedFile = Array("%FF%0D%0A%00A%0A".utf8)

    @Test(
        "a text in dollar quotes has the octets that a shell makes of it",
        arguments: [
            (#"$'\xc3\xa9\xff'"#, [0xC3, 0xA9, 0xFF]), (#"$'\101\0611\0'"#, [0x41, 0x31, 0x31, 0]),
            (#"$'\a\b\e\E\f\v\n\r\t'"#, [7, 8, 0x1B, 0x1B, 0x0C, 0x0B, 10, 13, 9]),
            (#"$'\ud83d\ude00\U0001F600'"#, Array("😀😀".utf8)), (#"\$'a\nb'"#, Array(#"$a\nb"#.utf8)),
            (#"$'\\\'\"\?\q'"#, Array(#"\'"?\q"#.utf8)), ("'\\'\u{e9}$'\\x4g'\"\\\n\"", Array("\\\u{e9}\u{4}g".utf8)),
        ]
    )
    func dollarQuotes(word: String, body: [UInt8]) throws {
        #expect(try drafts(.curl, "curl http://h/ --data-raw \(word)").map(\.body) == [body])
    }

    @Test("octets that are no UTF-8 remain in a content and a query, and are refused elsewhere with their line")
    func curlOctets() throws {
        #expect(try drafts(.curl, #"curl -G http://h/ -d $'a=\xe9'"#).map(\.url) == ["http://h/?a=%E9"])
        for line in [#"curl $'http://h/\xe9'"#, #"curl http://h/ -H $'A: \xe9'"#, #"curl http://h/ -d $'@\xe9'"#] {
            let words = complaint(.curl, "\n" + line)
            #expect(words.contains("line 2: ") && words.contains("no UTF-8"), "\(words)")
        }
        for line in [#"curl $'http://h/\ud83d'"#, #"curl $'\ud83d\u0041'"#, #"curl $'\xg'"#] {
            #expect(complaint(.curl, line).contains("need hexadecimal digits"))
        }
    }

    @Test("each line of a file of curl commands is a request, and a bad one is refused with its line")
    func lines() throws {
        #expect(try drafts(.curl, "curl http://h/1 http://h/2\ncurl http://h/3;curl http://h/4").map(\.url).count == 4)
        for (text, words) in [
            ("curl http://h/\nwget x", "line 2: \"wget\" is not curl"),
            ("curl 'http://h/", "line 1: a quote is not closed"),
            ("curl http://h/$x", "$ means something to a shell"), ("curl -H 'A: b'", "curl has no URL"),
            ("curl -F a=b http://h/", "-F is not understood here"), ("curl http://h/ -X", "-X has no value"),
            ("\n\ncurl http://h/ -b jar.txt", "line 3: -b \"jar.txt\" is a file"),
            ("curl http://h/ | jq", "| means something to a shell"),
            ("curl '#http://h/'", "is no URL but a fragment"),
            ("curl -Gd\(String(repeating: "a", count: 1 << 20))\(String(repeating: " h", count: 65))", "65 URLs share"),
            ("curl 'http://h/[1-9]'", "is a pattern to curl"), ("curl 'http://h/{a,b}'", "is a pattern to curl"),
            ("\ncurl http://h/ -H Host:", "line 2: -H \"Host:\" would leave out"),
        ] {
            #expect(complaint(.curl, text).contains(words), "\(complaint(.curl, text))")
        }
    }

    @Test("a Postman collection's requests are named by folder, with its variables filled in")
    func postman() throws {
        let text = """
            {"info": {"name": "c"}, "variable": [{"key": "base", "value": "http://h:1"}, {"key": "n", "value": 7}],
             "item": [
              {"name": "a", "item": [
                {"name": "get", "request": "{{base}}/x/{{n}}?q={a}"},
                {"name": "post", "request": {"method": "PUT", "url": {"raw": "{{ base }}/y"}, "header": [
                   {"key": "A", "value": "{{n}}"}, {"key": "B", "value": "1", "disabled": true}],
                   "body": {"mode": "raw", "raw": "{\\"n\\": {{n}}}", "options": {"raw": {"language": "json"}}}}}]},
              {"request": {"method": "POST", "url": "h/z", "body": {"mode": "urlencoded", "urlencoded": [
                 {"key": "k 1", "value": "v&"}, {"key": "x", "value": "y", "disabled": true}]}}}]}
            """
        let drafts = try drafts(.postman, text)
        #expect(drafts.map(\.name) == ["a/get", "a/post", nil])
        #expect(
            drafts.map(told) == [
                ["GET", "http://h:1/x/7?q=%7Ba%7D", "-"],
                ["PUT", "http://h:1/y", "A: 7", "Content-Type: application/json", #"{"n": 7}"#],
                ["POST", "http://h/z", "Content-Type: application/x-www-form-urlencoded", "k%201=v%26"],
            ]
        )
        for (text, words) in [
            ("{}", "no Postman collection"), ("[", "cannot be read as JSON"),
            (#"{"info": {}, "item": [{"request": "{{x}}/a"}]}"#, "{{x}} is no variable"),
            (#"{"info": {}, "item": [{"name": "n"}]}"#, "has no request"),
            (#"{"info": {}, "item": [{"request": {"url": "/a", "body": {"mode": "file"}}}]}"#, "of the kind \"file\""),
        ] {
            #expect(complaint(.postman, text).contains(words), "\(complaint(.postman, text))")
        }
    }

    @Test("a Postman request's content has its type, and its GraphQL variables are a map")
    func postmanContents() throws {
        func body(_ text: String) throws -> [String] {
            let item =
                #"{"info": {}, "variable": [{"key": "t", "value": "T"}], "item": [{"request": {"url": "/a", "body": "#
            return try Array(told(#require(drafts(.postman, "\(item)\(text)}}]}").first)).dropFirst(2))
        }
        for (language, type) in [
            ("text", "text/plain"), ("json", "application/json"), ("xml", "application/xml"), ("html", "text/html"),
            ("javascript", "application/javascript"),
        ] {
            let raw = #"{"mode": "raw", "raw": "x", "options": {"raw": {"language": "\#(language)"}}}"#
            #expect(try body(raw) == ["Content-Type: \(type)", "x"])
        }
        for (variables, sent) in [
            (#""{\n \"id\": 1, \"t\": \"{{t}}\"}""#, #","variables":{"id":1,"t":"T"}}"#), ("\"\"", "}"),
            (#"" \n""#, "}"),
            (#"{"id": "{{t}}"}"#, #","variables":{"id":"T"}}"#),
        ] {
            let content =
                #"{"mode": "graphql", "graphql": {"query": "query { a(b: \"{{t}}\") }", "variables": \#(variables)}}"#
            let expected = #"{"query":"query { a(b: \"T\") }""# + sent
            #expect(try body(content) == ["Content-Type: application/json", expected])
        }
        #expect(throws: UsageError.self) {
            try body(#"{"mode": "graphql", "graphql": {"query": "", "variables": "[1]"}}"#)
        }
    }

    @Test("a Postman request has its path variables and its authorization, its own or that of its folder")
    func postmanSettings() throws {
        let text = """
            {"info": {}, "variable": [{"key": "t", "value": "T"}],
             "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{t}}"}]},
             "item": [
              {"name": "a", "request": {"url": {"raw": "http://h:1/x/:id/:id2?q=:id", "variable": [
                {"key": "id", "value": "4 2"}, {"key": "id2", "value": "{{t}}"}]}}},
              {"name": "f", "auth": {"type": "basic", "basic": [{"key": "password", "value": "p"}, {"key": "username", "value": "u"}]},
               "item": [
                {"name": "b", "request": "http://h/b"}, {"name": "c", "request": {"auth": {"type": "noauth"}, "url": "http://h/c"}},
                {"name": "d", "request": {"url": "http://h/d", "header": [{"key": "Authorization", "value": "own"}]}},
                {"name": "e", "request": {"url": "http://h/e", "auth": {"type": "apikey", "apikey": [
                  {"key": "key", "value": "X-Key"}, {"key": "value", "value": "k"}, {"key": "in", "value": "header"}]}}}]}]}
            """
        #expect(
            try drafts(.postman, text).map(told) == [
                ["GET", "http://h:1/x/4%202/T?q=:id", "Authorization: Bearer T", "-"],
                ["GET", "http://h/b", "Authorization: Basic dTpw", "-"], ["GET", "http://h/c", "-"],
                ["GET", "http://h/d", "Authorization: own", "-"], ["GET", "http://h/e", "X-Key: k", "-"],
            ]
        )
        let key = """
            {"info": {}, "item": [{"request": {"url": "http://h/a", "auth": {"type": "apikey", "apikey": [
              {"key": "key", "value": "api key"}, {"key": "value", "value": "a&admin=1#rest"}, {"key": "in", "value": "query"}]}}}]}
            """
        #expect(try drafts(.postman, key).map(\.url) == ["http://h/a?api%20key=a%26admin%3D1%23rest"])
        let odd = key.replacing("a&admin=1#rest", with: "a+b%zz c")
        #expect(try drafts(.postman, odd).map(\.url) == ["http://h/a?api%20key=a%2Bb%25zz%20c"])
        let other = #"{"info": {}, "item": [{"name": "n", "request": {"url": "/a", "auth": {"type": "hawk"}}}]}"#
        #expect(complaint(.postman, other).contains("its authorization is of the kind \"hawk\""))
    }

    @Test("requests from curl's command lines have their fields on the wire as curl sends them")
    func curlOnTheWire() throws {
        let server = try RawServer.start(
            otherwise: [.receive(.request), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .startOver]
        )
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/g?ids\\[\\]=1"
        let curl = TemporaryFile(
            Array("curl '\(url)' -H 'X-Empty;' -H 'Content-Type:' -d a=1 -b a=1 -b b=2\n".utf8)
        )
        let ended = try volley(["--input", "curl=\(curl.path)", "-n", "1", "-c", "1", "-q"])
        #expect(ended.status == 0, "\(ended.err)")
        let text = server.connections.map(\.receivedText).joined()
        #expect(
            text.hasPrefix("POST /g?ids%5B%5D=1 HTTP/1.1\r\n") && text.contains("\r\nCookie: a=1; b=2\r\n"),
            "\(text)"
        )
        #expect(text.contains(#/\r\nX-Empty: ?\r\n/#) && !text.contains("Content-Type"), "\(text)")
    }

    @Test(
        "a curl command can leave out volley's User-Agent",
        arguments: [("", 1), ("-H user-agent:", 0), ("-A '' -e '' -b ''", 0), ("-A mine", 1)]
    )
    func curlLeavesOut(options: String, count: Int) throws {
        let server = try RawServer.start(
            otherwise: [.receive(.request), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .startOver]
        )
        defer { server.stop() }
        let curl = TemporaryFile(Array("curl http://127.0.0.1:\(server.port)/ \(options)\n".utf8))
        let ended = try volley(["--input", "curl=\(curl.path)", "-n", "1", "-c", "1", "-q"])
        #expect(ended.status == 0, "\(ended.err)")
        let text = server.connections.map(\.receivedText).joined()
        #expect(text.hasPrefix("GET / HTTP/1.1\r\n") && !text.contains("Referer"), "\(text)")
        #expect(text.ranges(of: "User-Agent: ").count == count, "\(text)")
    }

    @Test("imported requests are sent like those of any file, with figures by name")
    func sent() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let curl = TemporaryFile(Array("curl \(server.url("/anything")) -d a=1\ncurl \(server.url("/bytes/1"))\n".utf8))
        let ended = try volley(["--input", "curl=\(curl.path)", "-n", "10", "-c", "1", "--format", "json"])
        #expect(ended.status == 0 && server.requestCount == 10, "\(ended.err)")
        #expect((ended.report["names"] as? [[String: Any]])?.count == 2)
    }
}
