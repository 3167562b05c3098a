import ArgumentParser
import UncurlLoad

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
