/// One report: in which form, and where to.
package struct ReportSink: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable { case text, json, wrk }

    package let format: Format
    /// nil: standard output.
    package let path: String?

    /// `text`, or `json=out.json`.
    package static let text = ReportSink(format: .text, path: nil)

    private init(format: Format, path: String?) { (self.format, self.path) = (format, path) }

    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let format = Format(rawValue: String(name)) else {
            throw UsageError("--format \(quoted(text)) is unknown: use text, json or wrk, each also as FORMAT=FILE")
        }
        guard parts.count < 2 || !parts[1].isEmpty else {
            throw UsageError("--format \(quoted(text)) names no file: use \(format.rawValue)=FILE")
        }
        self.format = format
        path = parts.count == 2 ? String(parts[1]) : nil
    }

    package static func parse(_ arguments: [String]) throws(UsageError) -> [ReportSink] {
        guard !arguments.isEmpty else { return [try ReportSink("text")] }
        var sinks: [ReportSink] = []
        for argument in arguments { sinks.append(try ReportSink(argument)) }
        guard sinks.count(where: { $0.path == nil }) <= 1 else {
            throw UsageError(
                "--format goes to standard output more than once: give all but one a file, such as json=out.json"
            )
        }
        let paths = sinks.compactMap(\.path)
        guard Set(paths).count == paths.count else {
            throw UsageError("--format writes one file twice: give each report a file of its own")
        }
        return sinks
    }
}
