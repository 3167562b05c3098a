import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Inputs", .ownThread)
struct InputTests {
    private func parse(_ format: InputFormat, _ text: String) throws(UsageError) -> RequestInput {
        try format.parse(Array(text.utf8), file: "f")
    }

    private func complaint(_ format: InputFormat, _ text: String) -> String? {
        do {
            _ = try parse(format, text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("a list of URLs has methods, weights, comments and empty lines")
    func urls() throws {
        let drafts = try parse(.urls, "# c\n/a\r\n\nPOST http://h/b  x7\n\t/c x2\n").drafts
        #expect(drafts.map(\.method) == ["GET", "POST", "GET"])
        #expect(drafts.map(\.url) == ["/a", "http://h/b", "/c"])
        #expect(drafts.map(\.weight) == [1, 7, 2])
        #expect(drafts.map { "\($0.place)".suffix(8) } == [", line 2", ", line 4", ", line 5"])
    }

    @Test("vegeta's text form has fields and bodies, with an empty line between requests or without")
    func vegeta() throws {
        let file = TemporaryFile(Array("the body".utf8))
        let text = "GET http://h/a\nX-A: 1\nX-B: 2: 3\n\n# c\nPOST http://h/b\n@\(file.path)\nHEAD http://h/c\n"
        let drafts = try parse(.vegeta, text).drafts
        #expect(drafts.map(\.method) == ["GET", "POST", "HEAD"])
        #expect(drafts[0].headers == ["X-A: 1", "X-B: 2: 3"])
        #expect(drafts[1].body == Array("the body".utf8))
        #expect(drafts[2].body == nil)
    }

    @Test("vegeta's JSON form has lists of values and a body in Base64")
    func vegetaJSON() throws {
        let text = #"{"method":"POST","url":"http://h/","body":"aGk=","header":{"X":["1","2"]}}"# + "\n\n"
        let drafts = try parse(.vegetaJSON, text).drafts
        #expect(drafts.count == 1)
        #expect(drafts[0].headers == ["X: 1", "X: 2"])
        #expect(drafts[0].body == Array("hi".utf8))
    }

    @Test("an HTTP Archive gives requests in the order of their times, without what is of HTTP/2 or volley's own")
    func har() throws {
        let text = """
            {"log":{"entries":[
             {"startedDateTime":"2026-04-16T12:07:25.500Z","request":{"method":"POST","url":"https://h/b#x",
              "headers":[{"name":":authority","value":"h"},{"name":"Content-Length","value":"2"},
               {"name":"Accept","value":"*/*"},{"name":"Proxy-Authorization","value":"Basic x"}],"postData":{"mimeType":"text/plain","text":"ab"}}},
             {"startedDateTime":"2026-04-16T14:07:23.250+02:00","request":{"method":"GET","url":"https://h/a","headers":[]}},
             {"request":{"method":"GET","url":"wss://h/socket","headers":[]}}
            ]}}
            """
        let input = try parse(.har, text)
        #expect(input.drafts.map(\.url) == ["https://h/a", "https://h/b"])
        #expect(input.drafts.map(\.offset) == [0, 2_250_000_000])
        #expect(input.drafts[1].headers == ["Accept: */*", "Content-Type: text/plain"])
        #expect(input.drafts[1].body == Array("ab".utf8))
        #expect(input.notes.count == 1)
    }

    @Test("a log is spread over its seconds, sorted, and leaves out what it has no body for")
    func accessLog() throws {
        let text = """
            1.2.3.4 - - [10/Oct/2026:13:55:37 +0000] "GET /b?x=1 HTTP/1.1" 200 5 "http://r/" "Agent \\"q\\""
            1.2.3.4 - bob [10/Oct/2026:15:55:36 +0200] "GET /a HTTP/1.1" 200 5
            1.2.3.4 - - [10/Oct/2026:13:55:37 +0000] "POST /c HTTP/1.1" 200 5 "-" "-"
            1.2.3.4 - - [10/Oct/2026:13:55:37 +0000] "-" 400 0
            1.2.3.4 - - [10/Oct/2026:13:55:37 +0000] "HEAD /d HTTP/1.1" 200 5 "-" "-"
            """
        let input = try parse(.accessLog, text)
        #expect(input.drafts.map(\.url) == ["/a", "/b?x=1", "/d"])
        #expect(input.drafts.map(\.offset) == [0, 1_000_000_000, 1_500_000_000])
        #expect(input.drafts[1].headers == ["Referer: http://r/", "User-Agent: Agent \"q\""])
        #expect(input.notes.first?.contains("lines left out: 2.") == true)
    }

    @Test(
        "an error names the file and the line",
        arguments: [
            (.urls, "/a\nGET /b c d\n", "\"f\", line 2: "), (.urls, "/a x0", "\"f\", line 1: "),
            (.vegeta, "GET http://h/\nnonsense\n", "\"f\", line 2: "), (.vegeta, "X: 1\n", "\"f\", line 1: "),
            (.vegeta, "GET http://h/\n@/no/such/file\n", "\"f\", line 2: "),
            (.vegetaJSON, "{\"method\":\"GET\",\"url\":\"/\"}\n{\n", "\"f\", line 2: "),
            (.vegetaJSON, "{\"method\":\"GET\",\"url\":\"/\",\"body\":\"*\"}", "\"f\", line 1: "),
            (.har, "{\"log\":{\"entries\":[{}]}}", "\"f\", entry 1: "), (.har, "[]", "\"f\" is no HTTP Archive"),
            (.accessLog, "x\n", "\"f\", line 1: "),
            (.accessLog, "[10/Foo/2026:1:1:1 +0000] \"GET /\"", "\"f\", line 1: "),
        ] as [(InputFormat, String, String)]
    )
    func problems(format: InputFormat, text: String, prefix: String) {
        let words = complaint(format, text)
        #expect(words?.hasPrefix(prefix) == true, "\(words ?? "nothing")")
        #expect(words?.contains("\n") == false)
    }

    @Test("a file with too many requests is refused while it is read")
    func many() throws {
        var input = RequestInput(limit: 2)
        let place = InputPlace(file: "f", line: 3)
        for _ in 0..<2 { try input.add(RequestDraft(url: "/", place: place)) }
        #expect { try input.add(RequestDraft(url: "/", place: place)) } throws: {
            "\($0)" == "\"f\", line 3: more than 2 requests: use a part of the file"
        }
    }

    @Test("a byte order mark is skipped, and a cut file is distinguished from one of another kind")
    func marks() throws {
        let har = TemporaryFile(
            [0xEF, 0xBB, 0xBF] + Array(#"{"log":{"entries":[{"request":{"method":"GET","url":"http://h/"}}]}}"#.utf8)
        )
        #expect(try InputFormat.read(["har=\(har.path)"]).drafts.count == 1)
        let list = TemporaryFile([0xEF, 0xBB, 0xBF] + Array("/a\n".utf8))
        #expect(try InputFormat.read(["urls=\(list.path)"]).drafts.first?.url == "/a")
        #expect(complaint(.har, #"{"log":{"entries":[{"requ"#)?.contains("the text ends within a value") == true)
        let cut = complaint(.har, "{\"log\": {\n  \"é\": x}}")
        #expect(
            cut?.hasSuffix(" cannot be read as JSON: line 2, column 8: unexpected x") == true,
            "\(cut ?? "")"
        )
    }

    @Test("a form that an archive describes only by its fields is sent, or refused where that is impossible")
    func params() throws {
        let entry = { (type: String) in
            #"{"log":{"entries":[{"request":{"method":"POST","url":"http://h/","postData":{"mimeType":""# + type
                + #"","params":[{"name":"a b","value":"1&2"},{"name":"c"}]}}}]}}"#
        }
        let draft = try parse(.har, entry("application/x-www-form-urlencoded; charset=UTF-8")).drafts.first
        #expect(draft?.body.map { String(decoding: $0, as: UTF8.self) } == "a%20b=1%262&c=")
        #expect(draft?.headers == ["Content-Type: application/x-www-form-urlencoded; charset=UTF-8"])
        #expect(complaint(.har, entry("multipart/form-data"))?.contains("has only params") == true)
    }

    @Test("what a server escapes in its log is what the client had sent")
    func escapedLog() throws {
        let line =
            #"1.1.1.1 - - [10/Oct/2026:13:55:36 +0200] "GET /m\xC3\xBCsic?q=\x22 HTTP/1.1" 200 1 "-" "A \"b\" \xC3\xBC""#
        let drafts = try parse(.accessLog, line + "\n").drafts
        #expect(drafts.map(\.url) == ["/m%C3%BCsic?q=%22"])
        let garbage = try parse(
            .accessLog,
            line.replacing("/m", with: "/%") + "\n" + line.replacing("/m", with: "*") + "\n"
        )
        #expect(garbage.drafts.isEmpty && garbage.notes.count == 1)
        #expect(drafts.first?.headers == ["User-Agent: A \"b\" ü"])
    }

    @Test("octets in a log that are no UTF-8 remain in a target, and a field with some is left out and noted")
    func otherOctets() throws {
        let line = #"1.1.1.1 - - [10/Oct/2026:13:55:36 +0200] "GET /caf\xE9 HTTP/1.1" 200 2326 "-" "a\xE9""#
        let input = try parse(.accessLog, line)
        #expect(input.drafts.map(\.url) == ["/caf%E9"] && input.drafts.first?.headers == [])
        #expect(input.notes.count == 1 && input.notes.first?.contains("fields left out: 1.") == true)
    }

    @Test("octets that browsers leave in a URL, and no URL may hold, are escaped in a HAR and in a log")
    func browserURLs() throws {
        let url = "http://[::1]:1/a?ids[]=1|2&x={é}&n={{counter}}&s=1%&t=%zz%4#y"
        let har = #"{"log":{"entries":[{"request":{"method":"GET","url":"\#(url)"}}]}}"#
        let log = #"1.1.1.1 - - [10/Oct/2026:13:55:36 +0200] "GET /a?ids[]=1|2&s=1% HTTP/1.1" 200 1"#
        let escaped = "http://[::1]:1/a?ids%5B%5D=1%7C2&x=%7B%C3%A9%7D&n={{counter}}&s=1%25&t=%25zz%254"
        #expect(try parse(.har, har).drafts.map(\.url) == [escaped])
        #expect(try parse(.accessLog, log).drafts.map(\.url) == ["/a?ids%5B%5D=1%7C2&s=1%25"])
    }

    @Test("a target in a log that names a host is requested of the run's host, as the server had taken it")
    func absoluteInLog() throws {
        let line = #"1.1.1.1 - - [10/Oct/2026:13:55:36 +0200] "GET http://other.test/a?b HTTP/1.1" 404 1 "-" "-""#
        let lines = [line, line.replacing("/a?b", with: "?c"), line.replacing("/a?b HTTP", with: "/a b HTTP")]
        let text = lines.joined(separator: "\n")
        let input = try parse(.accessLog, text)
        #expect(input.drafts.map(\.url) == ["/a?b", "/?c"])
        #expect(input.notes.first?.contains("lines left out: 1.") == true)
    }

    @Test("times are read with their zones")
    func times() {
        #expect(RequestInput.iso8601("1970-01-01T00:00:00Z") == 0)
        #expect(RequestInput.iso8601("2000-03-01T00:00:00.000001Z") == 951_868_800_000_001_000)
        #expect(RequestInput.logTime("01/Jan/1970:02:00:00 +0200") == 0)
        for text in [
            "", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00",
        ] {
            #expect(RequestInput.iso8601(text) == nil)
        }
    }

    @Test("in order every request comes as often as it weighs, and by chance nearly so")
    func order() throws {
        let plan = try plan("http://127.0.0.1/", "--cookies")
        let factory = try EngineRequests(plan, embedded: nil)
        let drafts = try parse(.urls, "/a x1\n/b x2\n/c x7").drafts
        var requests: [PlannedRequest] = []
        for draft in drafts { requests.append(try factory.request(draft)) }
        var random = RandomStream(seed: 1, stream: 0)
        let inOrder = RequestList(requests, weights: drafts.map(\.weight), isRandom: false)
        #expect(
            (0..<20).map { inOrder.index($0, .whole, &random) } == [
                0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2,
            ]
        )
        let byChance = RequestList(requests, weights: drafts.map(\.weight), isRandom: true)
        var counts = [0, 0, 0]
        for number in 0..<10_000 { counts[byChance.index(UInt64(number), .whole, &random)] += 1 }
        #expect(abs(counts[0] - 1_000) < 150 && abs(counts[1] - 2_000) < 200 && abs(counts[2] - 7_000) < 250)
    }
}
