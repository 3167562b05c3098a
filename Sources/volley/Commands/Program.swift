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

/// `volley check`: says whether a scenario file can be run, and what it contains.
struct CheckCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley check",
        abstract: "Check a scenario file, without a run.",
        usage: "volley check FILE",
        discussion: """
            The file, its data files and each request are read as for a run. One line summarizes the file.

            Exit status: 0; 1 where a run would refuse the file, with the place and the remedy.
            """
    )

    @Argument(help: ArgumentHelp("The scenario file.", valueName: "FILE"))
    var file: String

    func perform() throws(UsageError) -> Verdict {
        let scenario = try ScenarioFile(path: file)
        for draft in scenario.input.drafts { try Self.check(draft) }
        do throws(Errno) {
            try BlockingOutput.writeAll("\(file): \(scenario.summary)\n", to: BlockingOutput.standard)
        } catch {
            throw UsageError("standard output cannot be written: \(error): open it")
        }
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

/// `volley compare`: says whether a later run was slower than an earlier one.
struct CompareCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley compare",
        abstract: "Compare two JSON reports, an earlier and a later one.",
        usage: "volley compare [--tolerance SHARE] [--fail-if CONDITION] BEFORE AFTER",
        discussion: """
            The intervals at the same time of both runs are compared in pairs (Student's t, corrected for the number \
            of figures), so that a drift of both runs changes nothing. A difference that chance explains at 5 %, or a \
            change within the tolerance, counts as none. "cannot tell" means that a change of 20 % is possible too. \
            Two dozen intervals per run are enough: use --interval. Errors that only one of the runs has are compared by their \
            count. Differences between the runs' settings are noted.

            In a virtual machine, what the host took of the processors' time (steal) explains a part of the \
            differences. The column "no steal" is the change without it, and it decides.

            Exit status: 0; 2 where a figure is worse or, with --fail-if, where a condition holds; 3 where volley was \
            the limit in one of the runs and errors have not increased; 1 where a report cannot be read.
            """
    )

    @Option(help: ArgumentHelp("Ignore changes below this share, even significant ones.", valueName: "SHARE"))
    var tolerance = "2%"

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Exit with 2 if this holds and not otherwise: p99>+10%, rps<-5%, errors>+0%, timeout>+0%; repeatable.",
            valueName: "CONDITION"
        )
    )
    var failIf: [String] = []

    @Argument(help: ArgumentHelp("The earlier report.", valueName: "BEFORE"))
    var before: String

    @Argument(help: ArgumentHelp("The later report.", valueName: "AFTER"))
    var after: String

    func perform() throws(UsageError) -> Verdict {
        try CompareJob(before, after, tolerance: tolerance, thresholds: failIf).perform()
    }
}

/// `volley merge`: combines the reports of a run's parts.
struct MergeCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley merge",
        abstract: "Combine the reports of a run's parts by adding their histograms, not by averaging percentiles.",
        usage: "volley merge [--format FORMAT[=FILE]] [-o FILE] REPORT…",
        discussion: """
            A report is a file of --format json, or an interval log of --format hlog. The parts come from --shard, or \
            from simultaneous runs on several machines. Exit status: that of the worst part, or 1 where a report \
            cannot be read.
            """
    )

    @Option(
        help: ArgumentHelp(
            "text, json, html or hgrm; hlog from logs; repeatable. (default: text)",
            valueName: "FORMAT[=FILE]"
        )
    )
    var format: [String] = []

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "The file of the first --format without one, or of a report in the format of its suffix.",
            valueName: "FILE"
        )
    )
    var output: [String] = []

    @Argument(help: ArgumentHelp("JSON reports, or .hlog files.", valueName: "REPORT"))
    var reports: [String]

    func perform() throws(UsageError) -> Verdict {
        try MergeJob(reports, ReportSink.parse(format, outputs: output)).perform()
    }
}

/// A command other than a run, named by the first word.
protocol SubCommand: ParsableCommand {
    func perform() throws(UsageError) -> Verdict
}
