import ArgumentParser
import UncurlLibC
import UncurlLoad
import UncurlLoadReports
import UncurlReactor
import UncurlTestServer

/// The program: it reads the arguments and returns an exit status.
@main
enum Program {
    static func main() {
        // A report that nothing reads, or that is too long for a file, is an error of its write and not a signal, so
        // that the other reports are still written.
        for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
        let status: Verdict
        do {
            try checkEncoding()
            status = try perform(Array(CommandLine.arguments.dropFirst()))
        } catch {
            try? BlockingOutput.writeAll("volley: \(error)\n", to: BlockingOutput.errors)
            status = .unusable
        }
        status.exit()
    }

    /// Swift replaces bytes that are not UTF-8, so volley would send something other than what was typed.
    private static func checkEncoding() throws(UsageError) {
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = unsafe CommandLine.unsafeArgv[index], unsafe String(validatingCString: argument) == nil
            else { continue }
            throw UsageError(
                "argument \(index) is not UTF-8: write bytes of a URL as %FF, and those of a body to a file for --body-file"
            )
        }
    }

    /// Carries out a command line. The error is the one line that the user sees.
    static func perform(_ arguments: [String]) throws(UsageError) -> Verdict {
        switch try parse(line: arguments) {
        case .information(let text):
            try BlockingOutput.answer("\(text)\n")
            return .good
        case .run(let command):
            let run = try Run(try Invocation(command))
            guard let (goal, start) = try command.pace.search() else { return try run.perform() }
            return try run.search(for: goal, from: start)
        case .command(let perform): return try perform()
        }
    }

    enum Parsed {
        /// Help, the version or a schema.
        case information(String)
        case run(LoadCommand)
        /// A command that the first word names, such as `worker`.
        case command(() throws(UsageError) -> Verdict)
    }

    /// Reads a command line. The first word decides whether it is a command; a URL has a scheme, so it cannot be taken
    /// for one.
    static func parse(line: [String]) throws(UsageError) -> Parsed {
        let rest = Array(line.dropFirst())
        switch line.first {
        case "worker"?: return try parse(rest, as: WorkerCommand.self) { .command($0.perform) }
        case "merge"?: return try parse(rest, as: MergeCommand.self) { .command($0.perform) }
        case "compare"?: return try parse(rest, as: CompareCommand.self) { .command($0.perform) }
        case "lead"?: return try parse(rest, as: LeadCommand.self) { .command($0.perform) }
        case "part"?: return try parse(rest, as: PartCommand.self) { .command($0.perform) }
        case "check"?: return try parse(rest, as: CheckCommand.self) { .command($0.perform) }
        case "schema"? where rest.isEmpty: return .information(SavedReport.schemaText)
        case "schema"? where rest == ["scenario"]: return .information(ScenarioFile.schema)
        case nil, .some:
            return try parse(line, as: LoadCommand.self) { $0.schema ? .information(SavedReport.schemaText) : .run($0) }
        }
    }

    private static func parse<Command: DocumentedCommand>(
        _ line: [String],
        as type: Command.Type,
        _ parsed: (Command) -> Parsed
    ) throws(UsageError) -> Parsed {
        do {
            guard let command = try type.parseAsRoot(line) as? Command else { return help(type, line) }
            return parsed(command)
        } catch {
            if type.exitCode(for: error).isSuccess {
                let text = type.message(for: error)
                // The parser knows that help is asked for, and not the value of a flag.
                return text == type.helpMessage() ? help(type, line) : .information(text)
            }
            var words = type.message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")
            if type is LoadCommand.Type { words = LoadCommand.hint(words, line) ?? words }
            throw UsageError("\(words) (see \(type.configuration.commandName ?? "volley") --help)")
        }
    }

    private static func help(_ type: any DocumentedCommand.Type, _ line: [String]) -> Parsed {
        let columns = min(Terminal.output.size.columns, 100)
        return .information(HelpPage(type).text(all: HelpPage.isOfAll(line), columns: columns))
    }
}

struct CheckCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley check",
        abstract: "Check a scenario file, without a run.",
        usage: "volley check FILE",
        discussion: """
            The file, its data files and each request are read as for a run. One line summarizes the file.

            Exit status: 0; 1 where a run would refuse the file, with the place and the remedy.
            """,
        helpNames: HelpPage.names
    )

    @Argument(help: .of("file", "check")) var file: String

    func perform() throws(UsageError) -> Verdict {
        let scenario = try ScenarioFile(path: file)
        for draft in scenario.input.drafts { try Self.check(draft) }
        try BlockingOutput.answer("\(file): \(scenario.summary)\n")
        return .good
    }

    /// Checks the request as if it were part of a run against some host.
    private static func check(_ draft: RequestDraft) throws(UsageError) {
        do throws(LoadTestError) {
            let url = try TargetURL(draft.url.hasPrefix("/") ? "http://localhost\(draft.url)" : draft.url)
            _ = try RequestDescription(
                method: draft.method,
                target: url.target,
                hostField: url.hostField,
                headers: draft.allHeaders,
                body: draft.body
            )
        } catch {
            throw UsageError(error, at: draft.place)
        }
    }
}
