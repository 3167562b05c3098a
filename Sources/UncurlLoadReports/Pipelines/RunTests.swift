import UncurlLoad

/// A run as a few tests for a pipeline, each with the reason of its failure.
struct RunTests {
    enum Outcome: Hashable {
        case passed(String)
        case failed(String)
        /// The run proves nothing, and not because of the server.
        case unfit(String)
    }

    struct Test: Hashable {
        let name: String
        let outcome: Outcome
    }

    let all: [Test]

    /// The conditions, and whether requests were answered, volley kept up, and the run is complete.
    init(_ result: RunResult) {
        let thresholds = result.thresholds
        var tests = (thresholds.thresholds + [thresholds.goal].compactMap(\.self)).map { finding in
            Test(name: finding.condition, outcome: finding.isKept ? .passed(finding.figure) : .failed(finding.figure))
        }
        tests.append(Test(name: "requests are answered", outcome: Self.answers(result)))
        let limits = result.generatorLimits
        tests.append(
            Test(
                name: "volley keeps up",
                outcome: limits.isEmpty ? .passed("it did") : .unfit(limits.joined(separator: "; "))
            )
        )
        if !result.lost.isEmpty {
            tests.append(Test(name: "the run is whole", outcome: .failed(result.lost.joined(separator: "; "))))
        } else if result.interrupted {
            tests.append(Test(name: "the run is whole", outcome: .unfit("it was interrupted")))
        }
        all = tests
    }

    private static func answers(_ result: RunResult) -> Outcome {
        let metrics = result.metrics
        let rare = [
            (metrics[.unsent], "unsent"), (metrics[.connectionsStray], "connections closed for stray bytes"),
        ].filter { $0.0 > 0 }
        let words =
            "\(grouped(metrics.done(result.plan.work))) completed, \(grouped(metrics[.failed])) failed, "
            + "\(grouped(metrics[.connectionsFailed])) connections failed, \(grouped(metrics.httpErrors)) HTTP errors"
            + rare.map { ", \(grouped($0)) \($1)" }.joined()
        // Errors count even if all conditions hold, except errors that a condition allows.
        let kept = zip(result.plan.thresholds, result.thresholds.thresholds).filter(\.1.isKept).map(\.0)
        let outcome = ThresholdOutcome(kept, result.figures, watched: result.watched)
        let (work, search) = (result.plan.work, result.plan.search)
        switch Verdict(metrics, of: work, interrupted: false, thresholds: outcome, search: search) {
        case .failures, .httpErrors: return .failed(words)
        case .good, .unusable, .threshold, .generatorLimited, .interrupted: return .passed(words)
        }
    }

    /// The number of failed tests.
    var failures: Int { all.count { if case .failed = $0.outcome { true } else { false } } }
    /// The number of tests that prove nothing.
    var unfit: Int { all.count { if case .unfit = $0.outcome { true } else { false } } }
}
