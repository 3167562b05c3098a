import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import volley

/// Scenario files as YAML: what is read means what it means to PyYAML, and the rest is refused with its line.
@Suite(.ownThread)
struct YAMLTests {
    private func read(_ text: String) throws -> String { try YAMLReader.read(Array(text.utf8)).line() }

    static let taken: [(String, String)] = [
        ("", "null"), ("# nothing\n", "null"), ("---\na: 1\n", #"{"a":1}"#), ("a:\nb: ~\n", #"{"a":null,"b":null}"#),
        ("a: 1 # one\nb: -0.5\nc: true\nd: x y\n", #"{"a":1,"b":-0.5,"c":true,"d":"x y"}"#),
        ("a:\n  b:\n    - 1\n    -  two\n  c: []\n", #"{"a":{"b":[1,"two"],"c":[]}}"#),
        ("a:\n- 1\n- b: 2\n  c: 3\n- - 4\n  - 5\n", #"{"a":[1,{"b":2,"c":3},[4,5]]}"#),
        ("- \n  a: 1\n-\n- {}\n", #"[{"a":1},null,{}]"#),
        ("[1, [a, 'b c'], {d: \"e\\n\"}]", #"[1,["a","b c"],{"d":"e\n"}]"#),
        ("{a: , b: [x,], 'c d': {}}", #"{"a":null,"b":["x"],"c d":{}}"#),
        ("a: 'it''s' # b\n\"c: d\" : \"\\u00e4\\x41\\t\"\n", #"{"a":"it's","c: d":"äA\t"}"#),
        (
            "url: /items/{{random:1-500}}?a=b#c\npause: 1s-3s\nt: 10s\n",
            #"{"url":"/items/{{random:1-500}}?a=b#c","pause":"1s-3s","t":"10s"}"#
        ),
        (
            "a: |\n  one\n    two\n\n  three\n\nb: >-\n  four\n  five\n\n  six\n",
            #"{"a":"one\n  two\n\nthree\n","b":"four five\nsix"}"#
        ),
        ("a: >\n\n  x\n  y\n\n\nb: |-\n\n  z\n", #"{"a":"\nx y\n","b":"\nz"}"#), ("a: |\nb: 1\n", #"{"a":"","b":1}"#),
        ("- |\n x\n- >-\n y\n z\n", #"["x\n","y z"]"#), ("plain text\n", #""plain text""#),
        ("\u{FEFF}a: b\r\nc: d\r\n", #"{"a":"b","c":"d"}"#),
        ("a: http://h:80/x\nb: -x\nc: a:b\n", #"{"a":"http://h:80/x","b":"-x","c":"a:b"}"#),
    ]

    static let refused: [(String, Int, YAMLReader.Kind)] = [
        ("a: &x 1\n", 1, .anchor), ("a: 1\nb: *x\n", 2, .anchor), ("a: !!str 1\n", 1, .tag),
        ("%YAML 1.2\n---\na: 1\n", 1, .directive),
        ("a: 1\n---\nb: 2\n", 2, .documents), ("a: 1\n...\n", 2, .documents), ("? a\n: b\n", 1, .complexKey),
        ("a: one\n  two\n", 2, .lines), ("a: \"one\n  two\"\n", 1, .quote), ("a: [1,\n  2]\n", 1, .flow),
        ("a: {b: 1\n", 1, .flow),
        ("a: yes\n", 1, .ambiguous), ("a: 0x1F\n", 1, .ambiguous), ("a: 1e3\n", 1, .ambiguous),
        ("a: 1:30\n", 1, .ambiguous),
        ("a: 010\n", 1, .ambiguous), ("a: 1_000\n", 1, .ambiguous), ("a: 2026-11-23\n", 1, .ambiguous),
        ("a: .inf\n", 1, .ambiguous),
        ("a: 1\na: 2\n", 2, .duplicate), ("1: a\n", 1, .key), ("a:\n\tb: 1\n", 2, .character),
        ("a: |\n  x", 2, .unended),
        ("a: 1\n b: 2\n", 2, .lines),
        ("a:\n  b: 1\n c: 2\n", 3, .indentation), ("- a\nb: 1\n", 2, .indentation), ("a: b: c\n", 1, .nestedMapping),
        ("a: \"\\q\"\n", 1, .escape), ("a: \"\\ud800\"\n", 1, .escape), ("a: |+\n  x\n", 1, .header),
        ("a: >\n  x\n   y\n", 3, .fold),
        ("a: @x\n", 1, .reserved), ("a: {{x}}\n", 1, .reserved), ("a\n", 0, .noKey), ("a: 1\nb\n", 2, .noKey),
        ("a: 'x' y\n", 1, .quote),
    ]

    @Test("supported YAML is read as it is written", arguments: taken.indices)
    func reads(index: Int) throws {
        let (text, json) = Self.taken[index]
        #expect(try read(text) == json, "\(text)")
    }

    @Test("other YAML is refused with its line", arguments: refused.indices)
    func refuses(index: Int) {
        let (text, line, kind) = Self.refused[index]
        // A single word is a text by itself.
        guard line > 0 else { return }
        do throws(YAMLReader.Problem) {
            let tree = try YAMLReader.read(Array(text.utf8))
            Issue.record("\(text) was read as \(tree.line())")
        } catch { #expect(error.line == line && error.kind == kind, "\(text): \(error)") }
    }

    @Test("endless nesting and bytes that are not text are refused")
    func limits() {
        for (text, kind) in [
            (String(repeating: "[", count: 100_000), YAMLReader.Kind.depth),
            (String(repeating: "- ", count: 10_000), .depth),
            ((0..<200).map { String(repeating: " ", count: $0) + "a:\n" }.joined(), .depth),
        ] {
            do throws(YAMLReader.Problem) {
                _ = try YAMLReader.read(Array(text.utf8))
                Issue.record("read")
            } catch { #expect(error.kind == kind) }
        }
        #expect(throws: YAMLReader.Problem(line: 1, kind: .notUTF8)) { try YAMLReader.read([0x61, 0xFF]) }
        #expect(throws: YAMLReader.Problem(line: 3, kind: .notUTF8)) {
            try YAMLReader.read(Array("a: é\r\nb: é\n".utf8) + [0x63, 0xFF, 0x0A])
        }
    }

    @Test("of the texts in a line, the one that YAML's versions read differently is named")
    func ambiguous() {
        #expect(throws: YAMLReader.Problem(line: 2, kind: .ambiguous, text: "y")) {
            try YAMLReader.read(Array("a: b\nextract: {x: {json: /x}, y: {json: /y}}\n".utf8))
        }
    }

    @Test(
        "each of 4,000 changed documents is refused or has the same meaning for PyYAML",
        .enabled(if: Python.isInstalled, Comment(rawValue: Python.reason))
    )
    func mutated() throws {
        var random = SplitMix(state: 18)
        let marks = Array(" \n:-#'\"[]{},|>?&*!%@`~.\\ax10eE+_\t=".unicodeScalars)
        var pairs: [JSONTree] = []
        var readable = 0
        let bases = Self.taken.map(\.0) + Self.refused.map(\.0)
        for number in 0..<4_000 {
            var scalars = Array(bases[number % bases.count].unicodeScalars)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: scalars.insert(marks.randomElement(using: &random) ?? " ", at: place)
                case 1 where place < scalars.count: scalars.remove(at: place)
                case _ where place < scalars.count: scalars[place] = marks.randomElement(using: &random) ?? " "
                default: break
                }
            }
            let text = YAMLReader.string(scalars)
            guard let tree = try? YAMLReader.read(Array(text.utf8)) else { continue }
            readable += 1
            pairs.append(.array([.string(text), tree]))
        }
        #expect(readable > 1_000, "\(readable)")
        let file = TemporaryFile(Array(JSONTree.array(pairs).line().utf8))
        let script = """
            import json, sys, yaml
            wrong = []
            for text, mine in json.load(open(sys.argv[1])):
                try: theirs = yaml.safe_load(text)
                except yaml.YAMLError as error: theirs = f"refused: {error}"
                same = json.dumps(mine, sort_keys=True) == json.dumps(theirs, sort_keys=True, default=repr)
                if not same: wrong.append((text, mine, theirs))
            for row in wrong[:10]: print(row)
            print(len(wrong))
            """
        let told = try Python.run(script, file.path)
        #expect(told.out == "0\n", "\(told.out)\(told.err)")
    }

    @Test("a scenario has the same meaning as YAML and as JSON, and a mistake is reported with file and line")
    func scenario() throws {
        let yaml = """
            fields: {Accept: text/plain}
            variables: {currency: EUR}
            steps:
              - name: login
                url: /login
                json: {user: "{{uuid}}"}
                extract:
                  token: {json: /token}
                pause: 1s-3s
              - loop: 2
                steps:
                  - url: /items/{{token}}
            """
        let file = try ScenarioFile(Array(yaml.utf8), "shop.yaml")
        #expect(file.summary == "1 scenario (visit), 2 requests: login, GET /items/{{token}}")
        #expect(throws: UsageError("\"shop.yml\", line 2: \(YAMLReader.Kind.anchor.rawValue)")) {
            try ScenarioFile(Array("steps:\n  - &a {url: /}\n".utf8), "shop.yml")
        }
    }
}

/// The same numbers in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
