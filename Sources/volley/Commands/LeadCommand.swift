import ArgumentParser
import UncurlLoad

struct LeadCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley lead",
        abstract: "Lead a run of several machines, with one view, one report and one verdict.",
        usage: "volley lead --on COMMAND… [flags] URL",
        discussion: """
            Each COMMAND runs `volley part` somewhere: 'ssh a volley part', 'kubectl exec -i pod-0 -- volley part', \
            'volley part'. The lead controls it through its standard input. Each part has its share of connections, \
            requests and rate; -t applies to each part; files that flags name are files of the part's machine. All \
            parts start at once, even if their clocks differ.

            Exit status: as volley; also 4 where a part has ended early. The report names it.
            """,
        helpNames: HelpPage.names
    )

    static let refused = ["--shard", "--start-at", "--schema"]

    @Option(parsing: .unconditionalSingleValue, help: .of("on", "lead")) var on: [String] = []

    @OptionGroup
    var load: LoadCommand

    func perform() throws(UsageError) -> Verdict {
        guard !on.isEmpty else { throw UsageError("lead has no parts: add --on COMMAND for each") }
        try load.given.refuse(Self.refused, "is not for a lead: leave it out")
        let invocation = try Invocation(load)
        try need(invocation.load.target != nil, "lead needs a URL: each part would test a server of its own")
        guard !invocation.reports.contains(where: { $0.format == .requests }) else {
            throw UsageError("--format requests is not for a lead: the parts send counts, and no single requests")
        }
        try need(
            invocation.load.connections >= on.count,
            "-c \(invocation.load.connections) is less than the \(on.count) parts: each needs a connection"
        )
        return try perform(invocation)
    }

    /// Makes the run. The parts send the counts of their threads to this process, which treats the counts as those of
    /// local threads. So views, reports and conditions are the same as for any run.
    private func perform(_ invocation: Invocation) throws(UsageError) -> Verdict {
        var invocation = invocation
        // The parts' machines choose the source addresses.
        invocation.load.sources = []
        let files = try ReportFile.open(invocation.reports)
        var stage = try RunStage(invocation, try orUsage(try RunPlan(invocation.load, .none)), .none)
        defer { stage.close() }
        var crew = PartCrew(Self.arguments(of: CommandLine.arguments))
        defer { crew.end() }
        try crew.begin(on)
        if let (goal, start) = try load.pace.search() {
            let run = try Run(invocation, limits: .none)
            return try run.search(for: goal, from: start, on: &stage, files) { trial, rate, stage throws(UsageError) in
                try crew.measure(trial, rate: rate, files, on: &stage)
            }
        }
        let measured = try crew.measure(invocation, rate: nil, files, on: &stage)
        stage.finishRuns()
        return try Run.report(measured, to: files)
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
