import ArgumentParser
import LoadGenerator

/// `volley compare`: whether a later run was slower than an earlier one.
struct CompareCommand: SubCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley compare",
        abstract: "Compare two JSON reports, an earlier and a later one.",
        usage: "volley compare [--tolerance SHARE] [--fail-if CONDITION] BEFORE AFTER",
        discussion: """
            Each figure's intervals are put to a rank test (Mann-Whitney, corrected for their number): what chance explains at 5 % is \
            no difference, nor is a change within the tolerance. A dozen intervals each are a good number: use --interval. Errors that one of \
            the runs has none of are counted singly. What the runs have not in common is noted.

            Exit status: 0; 2 where a figure is worse or, with --fail-if, where a condition holds; 3 where volley was the limit in one of the \
            runs, and there are no more errors; 1 where a report cannot be read.
            """
    )

    @Option(help: ArgumentHelp("A change below this is none, however sure.", valueName: "SHARE"))
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
