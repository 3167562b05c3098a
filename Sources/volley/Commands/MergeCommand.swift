import ArgumentParser
import UncurlLoad

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
