import ArgumentParser
import UncurlLoad
import UncurlReactor

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
