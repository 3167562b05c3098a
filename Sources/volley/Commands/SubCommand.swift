import ArgumentParser
import UncurlLoad

/// A command other than a run, named by the first word.
protocol SubCommand: ParsableCommand {
    func perform() throws(UsageError) -> Verdict
}
