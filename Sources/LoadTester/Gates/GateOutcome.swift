/// What became of a run's conditions.
enum GateOutcome: Hashable, Sendable {
    /// There were none.
    case none
    /// - Parameter judgingErrors: one of them said how many errors are too many.
    case passed(judgingErrors: Bool)
    /// In words, one each.
    case failed([String])

    init(_ gates: [Gate], _ figures: GateFigures) {
        let failures = gates.filter { $0.fails(figures) ?? true }.map { "\($0.text): \($0.finding(figures))" }
        if gates.isEmpty {
            self = .none
        } else if failures.isEmpty {
            self = .passed(judgingErrors: gates.contains { $0.metric.judgesErrors })
        } else {
            self = .failed(failures)
        }
    }

    /// For the report.
    var lines: [String] {
        switch self {
        case .none, .passed: []
        case .failed(let failures): failures.map { "FAILED: \($0)" }
        }
    }
}
