/// A run from its options to its report.
struct Run {
    private let plan: RunPlan

    init(_ options: Options, limits: SystemLimits) throws(UsageError) {
        plan = RunPlan(options, try Preflight(options, limits))
    }

    func perform() throws(UsageError) -> Verdict {
        throw UsageError("this build of volley has no workers yet: \(plan.url) was not tested")
    }
}
