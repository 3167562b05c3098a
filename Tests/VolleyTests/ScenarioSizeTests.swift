import TestSupport
import Testing

@testable import UncurlLoad
@testable import volley

/// Scenario files of many parts, which take time and memory in proportion to their length.
@Suite("Long scenarios", .ownThread)
struct ScenarioSizeTests {
    private func list(_ count: Int, _ part: (Int) -> String) -> String {
        (0..<count).map(part).joined(separator: ", ")
    }

    private func time(_ text: String, _ read: (ScenarioFile) -> Void = { _ in }) -> Double {
        processorTime { if let file = try? ScenarioFile(Array(text.utf8), "s.json") { read(file) } }
    }

    @Test("many fields of the scenario, and as many of a step")
    func fields() throws {
        let text = { (count: Int) in
            let fields = { (name: String) in list(count) { "\"\(name)\($0)\": \"\"" } }
            let text = "{\"fields\": {\(fields("a"))}, \"steps\": [{\"url\": \"/\", \"fields\": {\(fields("b"))}}]}"
            return (count: count, text: text)
        }
        try expectProportionalTime(from: 500, of: text) { count, text in
            let file = try ScenarioFile(Array(text.utf8), "s.json")
            #expect(file.input.drafts.map(\.allHeaders.count) == [2 * count])
        }
    }

    @Test("many fields of the scenario, and many steps")
    func steps() throws {
        let text = { (count: Int) in
            let text = """
                {"fields": {\(list(count) { "\"a\($0)\": \"\"" })}, "steps": [\(list(count) { _ in "{\"url\": \"/\"}" })]}
                """
            return (count: count, text: text)
        }
        try expectProportionalTime(from: 1_000, of: text) { count, text in
            let file = try ScenarioFile(Array(text.utf8), "s.json")
            #expect(file.input.drafts.last?.allHeaders.count == count)
        }
    }

    @Test("a field of a step, or that its content has, takes precedence over the scenario's field of that name")
    func precedence() throws {
        let text = """
            {"fields": {"X-A": "1", "content-TYPE": "a/b", "X-B": "2"},
             "steps": [{"url": "/", "fields": {"x-a": "3"}, "json": 1}, {"url": "/"}]}
            """
        let file = try ScenarioFile(Array(text.utf8), "s.json")
        #expect(
            file.input.drafts.map(\.allHeaders) == [
                ["x-a: 3", "Content-Type: application/json", "X-B: 2"], ["X-A: 1", "content-TYPE: a/b", "X-B: 2"],
            ]
        )
    }

    @Test("an unknown member of many in a deep place")
    func members() {
        let text = { (count: Int) in
            let name = String(repeating: "A", count: 128 * count)
            return """
                {"steps": [{"url": "/", "extract": {"\(name)": {\(list(count) { "\"\($0)\": 1" })}}}]}
                """
        }
        expectProportionalTime(from: 1_000, of: text) { text in
            #expect(throws: (any Error).self) { try ScenarioFile(Array(text.utf8), "s.json") }
        }
    }

    @Test("many scenarios that extract a value take no longer beside many variables")
    func variables() throws {
        let scenarios = list(3_000) { _ in
            "{\"steps\": [{\"url\": \"/{{a}}\", \"extract\": {\"x\": {\"field\": \"a\"}}}, {\"url\": \"/{{x}}\"}]}"
        }
        let names = list(60_000) { "\"a\($0)\": \"\"" }
        let many = time("{\"variables\": {\"a\": \"\", \(names)}, \"scenarios\": [\(scenarios)]}") {
            #expect($0.scenarios.all.count == 3_000)
        }
        let alone =
            time("{\"variables\": {\(names)}, \"steps\": [{\"url\": \"/\"}]}")
            + time("{\"variables\": {\"a\": \"\"}, \"scenarios\": [\(scenarios)]}")
        #expect(many < 2 * alone, "\(many) and \(alone)")
    }

    @Test("a value that one scenario extracts is unknown in another")
    func scope() {
        let text = """
            {"scenarios": [{"steps": [{"url": "/", "extract": {"x": {"field": "a"}}}, {"url": "/{{x}}"}]},
                           {"steps": [{"url": "/{{x}}"}]}]}
            """
        #expect { try ScenarioFile(Array(text.utf8), "s.json") } throws: {
            "\($0)".contains("scenarios[1].steps[0].url cannot be filled in: {{x}} is unknown")
        }
    }

    @Test("a YAML mapping of many names in one line, each once")
    func flow() throws {
        let names = { (count: Int) in list(count) { "a\($0): 1" } }
        try expectProportionalTime(from: 2_000, of: names) { _ = try YAMLReader.read(Array("{\($0)}".utf8)) }
        #expect { try YAMLReader.read(Array("{\(names(2_000)), a7: 1}".utf8)) } throws: { "\($0)".contains("twice") }
    }

    @Test("a target of vegeta is refused if the values of one header make it much longer than the file")
    func header() throws {
        let text = { (name: Int, values: Int) in
            let values = list(values) { _ in "\"\"" }
            return
                "{\"method\":\"GET\",\"url\":\"/\",\"header\":{\"\(String(repeating: "A", count: name))\":[\(values)]}}"
        }
        #expect { try InputFormat.vegetaJSON.parse(Array(text(30_000, 8_000).utf8), file: "f") } throws: {
            "\($0)".contains("is too long for so many values")
        }
        let input = try InputFormat.vegetaJSON.parse(Array(text(3, 8_000).utf8), file: "f")
        #expect(input.drafts.first?.headers.count == 8_000)
    }
}
