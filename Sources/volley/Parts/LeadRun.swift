import UncurlLoad

/// `volley lead`: a run whose parts are other processes, on other machines. They send the counts of their threads to
/// this process, which treats the counts as those of local threads. So views, reports and conditions are the same as
/// for any run.
struct LeadRun {
    private var invocation: Invocation
    private let arguments: [String]
    private let commands: [String]
    private let search: (SearchGoal, Rate)?

    /// - Parameters:
    ///   - arguments: the command line of the run.
    ///   - commands: a command for each part.
    ///   - search: the goal of a search and its first rate; nil for a run at one rate.
    init(_ invocation: Invocation, arguments: [String], commands: [String], search: (SearchGoal, Rate)?) {
        (self.invocation, self.arguments, self.commands) = (invocation, arguments, commands)
        self.search = search
        // The parts' machines choose the source addresses.
        self.invocation.load.sources = []
    }

    func perform() throws(UsageError) -> Verdict {
        let files = try ReportFile.open(invocation.reports)
        let preflight = try orUsage(try Preflight(invocation.load, .none))
        var stage = try RunStage(invocation, preflight, .none)
        defer { stage.close() }
        var crew = PartCrew(arguments)
        defer { crew.end() }
        try crew.begin(commands)
        if let (goal, start) = search {
            let search = try SearchRun(invocation, goal: goal, from: start, limits: .none)
            return try search.perform(by: &crew, on: &stage, files)
        }
        let measured = try crew.measure(invocation, rate: nil, files, on: &stage)
        stage.finishRuns()
        return try measured.report(to: files)
    }
}
