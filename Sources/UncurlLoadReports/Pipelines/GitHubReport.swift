package import UncurlLoad

/// A run as workflow commands of GitHub Actions: one annotation per test.
package enum GitHubReport {
    package static func text(_ result: RunResult) -> String {
        RunTests(result).all.map { test in
            switch test.outcome {
            case .passed(let words): line("notice", test.name, words)
            case .failed(let words): line("error", test.name, words)
            case .unfit(let words): line("warning", test.name, words)
            }
        }.joined()
    }

    /// `::error title=volley::p99>50ms: p99 is 61.2 ms`. Percent signs and line ends are escaped.
    private static func line(_ command: String, _ name: String, _ words: String) -> String {
        let text = "\(name): \(words)".replacingEach("%", by: "%25").replacingEach("\r", by: "%0D").replacingEach(
            "\n",
            by: "%0A"
        )
        return "::\(command) title=volley::\(text)\n"
    }
}
