import ArgumentParser
import LoadGenerator

/// `volley merge`: the reports of a run's parts become one.
struct MergeCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley merge",
        abstract: "Put the reports of a run's parts together: histograms counter for counter, never their percentiles.",
        usage: "volley merge [--format FORMAT[=FILE]] [-o FILE] REPORT…",
        discussion: """
            Reports are what --format json wrote, or else interval logs of --format hlog; the parts are such as --shard made, or \
            runs on several machines at once. Exit status: as the worst of the parts had it, or 1 where a report cannot be read.
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
            "The file of the first --format without one, or a report in the form its name ends in.",
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
