import UncurlHTTP1
package import UncurlLoad

/// A run as JUnit XML, which Jenkins, GitLab and others read: one test per condition, and one for each requirement of
/// every run.
package enum JUnitReport {
    package static func text(_ result: RunResult) -> String {
        let tests = RunTests(result)
        let seconds = fixed(Double(result.measured) / 1e9, 3)
        let name = escaped("volley \(result.plan.title)")
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites>",
            "<testsuite name=\"\(name)\" tests=\"\(tests.all.count)\" failures=\"\(tests.failures)\" errors=\"\(tests.unfit)\" "
                + "skipped=\"0\" time=\"\(seconds)\">",
        ]
        for test in tests.all {
            let head = "<testcase classname=\"volley\" name=\"\(escaped(test.name))\" time=\"\(seconds)\""
            switch test.outcome {
            case .passed: lines.append(head + "/>")
            case .failed(let words): lines.append(head + "><failure message=\"\(escaped(words))\"/></testcase>")
            case .unfit(let words): lines.append(head + "><error message=\"\(escaped(words))\"/></testcase>")
            }
        }
        lines += ["<system-out>\(escaped(TextReport.text(result)))</system-out>", "</testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes text (XML 1.0 §2.2 and §2.4), and removes control characters that no document may have.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            default:
                if scalar.value >= 0x20, ![0xFFFE, 0xFFFF].contains(scalar.value) {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }
}
