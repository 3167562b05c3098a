import ArgumentParser
import UncurlLoad

/// `volley lead`: leads a run that several machines make together.
struct LeadCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley lead",
        abstract: "Lead a run of several machines, with one view, one report and one verdict.",
        usage: "volley lead --on COMMAND… [options] URL",
        discussion: """
            Each COMMAND runs `volley part` somewhere: 'ssh a volley part', 'kubectl exec -i pod-0 -- volley part', \
            'volley part'. The lead controls it through its standard input. Each part has its share of connections, \
            requests and rate; -t applies to each part; files that options name are files of the part's machine. All \
            parts start at once, even if their clocks differ.

            Exit status: as volley; also 4 where a part has ended early. The report names it.
            """
    )

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A command that runs `volley part`; repeatable, one part each.", valueName: "COMMAND")
    )
    var on: [String] = []

    @OptionGroup
    var load: LoadCommand

    func perform() throws(UsageError) -> Verdict {
        guard !on.isEmpty else { throw UsageError("lead has no parts: add --on COMMAND for each") }
        let refused = [
            ("--shard", load.shard != nil), ("--start-at", load.startAt != nil), ("--schema", load.schema),
        ]
        if let flag = refused.first(where: \.1)?.0 { throw UsageError("\(flag) is not for a lead: leave it out") }
        let invocation = try Invocation(load)
        guard invocation.load.target != .embedded else {
            throw UsageError("lead needs a URL: each part would test a server of its own")
        }
        guard !invocation.reports.contains(where: { $0.format == .requests }) else {
            throw UsageError("--format requests is not for a lead: the parts send counts, and no single requests")
        }
        guard invocation.load.connections >= on.count else {
            throw UsageError(
                "-c \(invocation.load.connections) is less than the \(on.count) parts: each needs a connection"
            )
        }
        let arguments = Self.arguments(of: CommandLine.arguments)
        let search = try load.pace.search()
        return try LeadRun(invocation, arguments: arguments, commands: on, search: search).perform()
    }

    /// The command line of the run, without its first word and the `--on` options.
    static func arguments(of line: [String]) -> [String] {
        var rest: [String] = []
        var words = line.dropFirst(2)
        while let word = words.popFirst() {
            if word == "--on" { words = words.dropFirst() } else if !word.hasPrefix("--on=") { rest.append(word) }
        }
        return rest
    }
}

/// `volley part`: a part of a lead's run.
struct PartCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley part",
        abstract: "Run a part of a run that `volley lead` leads, by messages on standard input and output.",
        usage: "volley part"
    )

    func perform() throws(UsageError) -> Verdict { try PartRun().perform() }
}
