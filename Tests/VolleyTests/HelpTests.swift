import ArgumentParser
import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import volley

@Suite("Help", .ownThread)
struct HelpTests {
    private static var commands: [any DocumentedCommand.Type] {
        [
            LoadCommand.self, LeadCommand.self, WorkerCommand.self, PartCommand.self, MergeCommand.self,
            CompareCommand.self, CheckCommand.self,
        ]
    }

    private func help(_ line: String...) throws -> String {
        guard case .information(let text) = try Program.parse(line: line) else { throw UsageError("no help") }
        return text
    }

    /// The flags that a page describes, each by its long name with dashes.
    private func described(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^ {2,6}(?:-\w, )*(--[\w-]+|<\w+>)/).map { String($0.output.1) }
        }
    }

    @Test("every flag stands in exactly one group, and every row of a group is a flag")
    func groups() {
        var rows: [String] = []
        for group in FlagGroup.all { rows += group.rows.map { "\(group.command) \($0.name)" } }
        #expect(Set(rows).count == rows.count, "\(rows.filter { name in rows.count(where: { $0 == name }) > 1 })")
        var used: Set<String> = []
        for type in Self.commands {
            let page = HelpPage(type)
            let flags = Set(page.flags.flatMap(\.keys))
            // A row of the command's own comes before volley's.
            for name in flags {
                let group = page.groups.filter { $0.rows.contains { $0.name == name } }
                let own = group.first { !$0.command.isEmpty } ?? group.first
                #expect(own != nil, "\(type): \(name) is in no group")
                if let own { used.insert("\(own.command) \(name)") }
            }
            #expect(
                Set(described(page.text(all: true, columns: 80))).count >= flags.count - type.refused.count,
                "\(type)"
            )
        }
        #expect(Set(rows).subtracting(used) == [])
    }

    @Test("the common flags of a group come first")
    func order() {
        for group in FlagGroup.all {
            let common = group.rows.map(\.isCommon)
            #expect(Array(common.drop { $0 }).allSatisfy { !$0 }, "\(group.question)")
        }
    }

    @Test("--help has some thirty flags, in a line each, on a screen")
    func common() throws {
        let lines = HelpPage(LoadCommand.self).text(all: false, columns: 80).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let count = described(lines.joined(separator: "\n")).count
        #expect((25...35).contains(count), "\(count)")
        #expect(lines.count <= 60, "\(lines.count)")
        for line in lines {
            #expect(line.count <= 80, "\(line)")
            #expect(!line.hasPrefix(String(repeating: " ", count: 32)), "\(line) is a flag's second line")
        }
    }

    @Test("--help-all has every flag, by each of its names, and every exit status")
    func all() {
        let text = HelpPage(LoadCommand.self).text(all: true, columns: 80)
        let words = Set(text.split { " ,\n".contains($0) })
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let flags = HelpPage(LoadCommand.self).flags
        #expect(flags.count > 85)
        for name in flags.flatMap({ $0.letters + $0.names }) {
            #expect(words.contains(name), "\(name)")
        }
        #expect(line.contains("130 interrupted"))
        #expect(line.contains("from 1 to 1,024. (default: 1)"), "the parser's defaults")
    }

    @Test("a page has no line that is wider than asked", arguments: [72, 80, 100])
    func width(columns: Int) {
        for type in Self.commands {
            for line in HelpPage(type).text(all: true, columns: columns).split(separator: "\n") {
                // A command's usage is not divided.
                #expect(line.count <= columns || line.hasPrefix("Usage: "), "\(line)")
            }
        }
    }

    @Test(
        "the help of a command has its own flags, and says which of volley's it takes",
        arguments: [("lead", ["--on"], "--shard"), ("worker", ["--master", "--orphan", "--locust-coarse"], "-c")]
    )
    func ownFlags(command: String, own: [String], refused: String) throws {
        let text = try help(command, "--help")
        #expect(described(text) == own + ["--help", "--help-all"] + (text.contains("--version") ? ["--version"] : []))
        let words = text.replacing("\n", with: " ")
        #expect(words.contains("It also takes the flags of `volley --help-all`, except \(refused), "))
        let all = described(try help(command, "--help-all"))
        #expect(Array(all.prefix(own.count)) == own)
        #expect(all.contains("--header") && all.contains("--insecure"))
        #expect(all.contains("--connections") == (command == "lead") && !all.contains("--shard"))
    }

    @Test(
        "a command without flags of volley has one page",
        arguments: [("merge", ["<REPORT>", "--format", "--output"]), ("check", ["<FILE>"]), ("part", [])]
    )
    func otherCommands(command: String, own: [String]) throws {
        let text = try help(command, "--help")
        #expect(described(text) == own + ["--help", "--help-all"])
        #expect(try help(command, "--help-all") == text)
        #expect(!text.contains("It also takes"))
    }

    @Test("help is given wherever it is asked for, and is no value of a flag")
    func places() throws {
        #expect(try help("-h") == help("--help"))
        #expect(try help("-c", "5", "--help-all", "http://h/") == help("--help-all"))
        #expect(try help("worker", "--help-all", "--orphan", "run") == help("worker", "--help-all"))
        guard case .run(let command) = try Program.parse(line: ["--body", "--help-all", "http://h/"]) else {
            Issue.record("a body is taken for a flag")
            return
        }
        #expect(command.body == "--help-all")
    }

    @Test("the help fits the terminal")
    func terminal() throws {
        let ended = try volleyOnTerminal(["--help"])
        #expect(
            ended.out.replacing("\r\n", with: "\n") == HelpPage(LoadCommand.self).text(all: false, columns: 100) + "\n"
        )
    }
}
