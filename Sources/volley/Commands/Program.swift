import ArgumentParser
import Glibc
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
            do throws(Errno) {
                try BlockingOutput.writeAll("\(text)\n", to: BlockingOutput.standard)
                return .good
            } catch {
                throw UsageError("standard output cannot be written: \(error): open it")
            }
        case .run(let command):
            let invocation = try Invocation(command)
            if let (goal, start) = try command.pace.search() {
                return try SearchRun(invocation, goal: goal, from: start).perform()
            }
            return try Run(invocation).perform()
        case .command(let command): return try command.perform()
        }
    }

    enum Parsed {
        /// Help, the version or a schema.
        case information(String)
        case run(LoadCommand)
        /// A command that the first word names, such as `worker`.
        case command(any SubCommand)
    }

    /// Reads a command line. The first word decides whether it is a command; a URL has a scheme, so it cannot be taken
    /// for one.
    static func parse(line: [String]) throws(UsageError) -> Parsed {
        let rest = Array(line.dropFirst())
        switch line.first {
        case "worker"?: return try parse(rest, as: WorkerCommand.self) { .command($0) }
        case "merge"?: return try parse(rest, as: MergeCommand.self) { .command($0) }
        case "compare"?: return try parse(rest, as: CompareCommand.self) { .command($0) }
        case "lead"?: return try parse(rest, as: LeadCommand.self) { .command($0) }
        case "part"?: return try parse(rest, as: PartCommand.self) { .command($0) }
        case "check"?: return try parse(rest, as: CheckCommand.self) { .command($0) }
        case "schema"? where rest.isEmpty: return .information(ReportSchema.text)
        case "schema"? where rest == ["scenario"]: return .information(ScenarioSchema.text)
        case nil, .some:
            return try parse(line, as: LoadCommand.self) { $0.schema ? .information(ReportSchema.text) : .run($0) }
        }
    }

    private static func parse<Command: ParsableCommand>(
        _ line: [String],
        as type: Command.Type,
        _ parsed: (Command) -> Parsed
    ) throws(UsageError) -> Parsed {
        do {
            guard let command = try type.parseAsRoot(line) as? Command else { return .information(type.helpMessage()) }
            return parsed(command)
        } catch {
            if type.exitCode(for: error).isSuccess { return .information(type.message(for: error)) }
            var words = type.message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")
            if type is LoadCommand.Type { words = ForeignFlags.hint(words, line) ?? words }
            throw UsageError("\(words) (see \(type.configuration.commandName ?? "volley") --help)")
        }
    }
}
