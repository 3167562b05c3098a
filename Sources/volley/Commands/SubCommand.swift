import ArgumentParser
import LoadGenerator

/// What `volley` does besides a run, by its first word.
protocol SubCommand: ParsableCommand {
    func perform() throws(UsageError) -> Verdict
}
