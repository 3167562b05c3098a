import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLocust
@testable import volley

/// Texts with many combining marks out of order, which take time in proportion to their length.
@Suite("Texts of combining marks", .ownThread)
struct MarkedTextTests {
    private func check(
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ read: (String) throws -> Void
    ) {
        let marked = { (marks: String) in text.replacing("MARKS", with: marks) }
        expectProportionalTime(ofMarks: marked, sourceLocation: sourceLocation) { try? read($0) }
    }

    @Test("YAML", arguments: ["aMARKS: 1", "a: MARKS", "{aMARKS: 1}", "{a: 1MARKS}", "a: -MARKS", "\"aMARKS\": yes"])
    func yaml(text: String) { check(text) { _ = try YAMLReader.read(Array($0.utf8)) } }

    @Test(
        "scenarios",
        arguments: [
            "body: '{{aMARKS}}'", "body: '{{hex:MARKS}}'", "name: MARKS", "name: aMARKS", "method: MARKS", "aMARKS: 1",
            "MARKS: 1", "pause: MARKS", "pause: 1MARKS", "pause: exp:1MARKS", "check: {status: MARKS}",
            "check: {status: 'MARKSxx'}", "check: {fields: {MARKS: a}}", "extract: {MARKS: {field: a}}",
            "extract: {a: {json: '/aMARKS'}}", "extract: {a: {aMARKS: b}}", "fields: {MARKS: MARKS}",
            "form: {aMARKS: MARKS}", "json: {aMARKS: MARKS}",
        ]
    )
    func scenario(line: String) {
        check("steps:\n- url: /\n  \(line)\n") { _ = try ScenarioFile(Array($0.utf8), "s.yaml").summary }
    }

    @Test(
        "the head of a scenario",
        arguments: ["variables: {MARKS: a}", "variables: {aMARKS: a}", "fields: {MARKS: a}", "aMARKS: 1"]
    )
    func head(line: String) {
        check("\(line)\nsteps:\n- url: /\n") { _ = try ScenarioFile(Array($0.utf8), "s.yaml").summary }
    }

    @Test("the columns of a data file")
    func columns() { check("MARKS,aMARKS\n1,2\n") { _ = try DataFile(Array($0.utf8), "d.csv") } }

    @Test(
        "values of flags",
        arguments: [
            "MARKS", "1MARKS", "1sMARKS", "1/MARKS", "1/sMARKS", "p99MARKS>1", "p99>MARKS", "p99>1MARKS",
            "p99{MARKS}>1",
            "MARKS>1", "1s@1MARKS", "1s@MARKS", "1s@1,linearMARKS", "/MARKS", "/aMARKS", "/a~MARKS", "/a~1MARKS",
            "hex:MARKS", "random:1-MARKS", "exp:MARKS",
        ]
    )
    func values(text: String) {
        check(text) { _ = try UInt64(count: $0, for: "-c") }
        check(text) { _ = try UInt64(time: $0, for: "-d") }
        check(text) { _ = Double(share: $0) }
        check(text) { _ = try Rate($0, for: "") }
        check(text) { _ = try Threshold($0) }
        check(text) { _ = try StagePlan([$0]) }
        check(text) { _ = try Pause($0, for: "--think") }
        check(text) { _ = try TemplateValue($0) }
        check(text) { _ = JSONPointer($0) }
    }

    @Test(
        "files of requests",
        arguments: [
            (.urls, "/MARKS"), (.urls, "MARKS /"), (.urls, "/ name=MARKS"), (.urls, "/ xMARKS"),
            (.accessLog, #"[10/MARKS/2026:13:55:36 +0200]"GET / 1""#),
            (.accessLog, #"[10/Oct/2026:13:55:36 +0200MARKS]"GET / 1""#), (.accessLog, #"MARKS"GET / 1""#),
            (.accessLog, #"[10/Oct/2026:13:55:36 +0200]"MARKS / 1""#),
            (.accessLog, #"[10/Oct/2026:13:55:36 +0200]"GET MARKS 1""#),
            (.accessLog, #"[10/Oct/2026:13:55:36 +0200]"GET / 1" 2 3 "MARKS" "-MARKS""#),
            (.vegeta, "GET /\nA: MARKS"), (.vegeta, "MARKS"), (.vegeta, "GET /\n# @nameMARKS x"),
            (.vegeta, "GET /\nMARKS: a"), (.vegetaJSON, #"{"method":"MARKS","url":"/"}"#),
            (.vegetaJSON, #"{"method":"GET","url":"MARKS","name":"MARKS"}"#),
            (.har, #"{"log":{"entries":[{"request":{"method":"MARKS","url":"http://a/"}}]}}"#),
            (.har, #"{"log":{"entries":[{"request":{"method":"GET","url":"http:MARKS"}}]}}"#),
            (.har, #"{"log":{"entries":[{"request":{"method":"GET","url":"hMARKS"}}]}}"#),
            (
                .har,
                #"{"log":{"entries":[{"startedDateTime":"2026T1MARKS","request":{"method":"GET","url":"http://a"}}]}}"#
            ),
            (
                .har,
                #"""
                {"log":{"entries":[{"request":{"method":"GET","url":"http://a",
                "headers":[{"name":"MARKS","value":"MARKS"}]}}]}}
                """#
            ),
        ] as [(InputFormat, String)]
    )
    func requests(format: InputFormat, text: String) {
        check(text) { _ = try format.parse(Array($0.utf8), file: "f") }
    }

    @Test("the keys of a Locust master's message, and the names of its classes")
    func messagePack() throws {
        check("aMARKS") {
            let value = MessagePack.map([.init($0, .null), .init("user_classes_count", .map([.init($0, .integer(1))]))])
            _ = try LocustSpawn(value)
        }
        let name = String(repeating: "a", count: LocustSpawn.nameLimit)
        let classes = { (name: String) in
            MessagePack.map([.init("user_classes_count", .map([.init(name, .integer(1))]))])
        }
        #expect(try LocustSpawn(classes(name)).users == 1)
        #expect(throws: UsageError.self) { try LocustSpawn(classes(name + "a")) }
    }

    @Test("the type of a ZeroMQ socket")
    func socketType() {
        check("RMARKS") { type in
            var reader = ZMTP()
            let length = (0..<4).map { UInt8(truncatingIfNeeded: type.utf8.count >> (24 - 8 * $0)) }
            let ready = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + length + Array(type.utf8)
            let size = (0..<8).map { UInt8(truncatingIfNeeded: ready.count >> (56 - 8 * $0)) }
            reader.append(ZMTP.greeting + [6] + size + ready)
            _ = try reader.next()
        }
    }

    @Test("a text is put in quotes for a message")
    func words() {
        check("MARKS") { _ = quoted($0) }
        #expect(quoted("a\"\u{301}\\\n") == "\"a\\\"\u{301}\\\\\\u{a}\"")
    }
}
