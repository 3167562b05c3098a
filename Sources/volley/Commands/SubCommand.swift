import ArgumentParser
import LoadGenerator

/// A command other than a run, named by the first word.
protocol SubCommand: ParsableCommand {
    func perform() throws(UsageError) -> Verdict
}
