import UncurlLoad
import UncurlLoadReports
import UncurlText

struct ReportSink: Hashable, Sendable {
    enum Format: String, Hashable, Sendable, CaseIterable {
        case text, json, wrk, html
        /// HdrHistogram's percentile text.
        case hgrm
        /// Formats for pages and tools: Markdown, a list of tests, and GitHub's annotations.
        case markdown, junit, github
        /// Formats that are written during the run: intervals, single requests, HdrHistogram's interval log.
        case csv, requests, hlog

        var isStream: Bool { [.csv, .requests, .hlog].contains(self) }

        /// Whether the format shows a run's course, and not only its totals.
        var showsCourse: Bool { [.csv, .hlog, .json, .html].contains(self) }

        static let ofSuffix: [String: [Format]] = [
            "json": [.json], "html": [.html], "htm": [.html], "hlog": [.hlog], "hgrm": [.hgrm],
            "csv": [.csv, .requests], "md": [.markdown], "xml": [.junit], "txt": [.text, .wrk, .hgrm],
        ]

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    let format: Format
    /// The file; nil for standard output.
    let path: String?
    /// The flag that named the file, for error messages.
    let flag: String

    static let text = ReportSink(.text, path: nil)

    init(_ format: Format, path: String?, flag: String = "--format") {
        (self.format, self.path, self.flag) = (format, path == standardStream ? nil : path, flag)
    }

    /// Reads `text`, or `json=out.json`.
    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let format = Format(rawValue: String(name)) else {
            throw UsageError("--format \(quoted(text)) is unknown: use \(Format.names), each also as FORMAT=FILE")
        }
        guard parts.count < 2 || !parts[1].isEmpty else {
            throw UsageError("--format \(quoted(text)) names no file: use \(format.rawValue)=FILE")
        }
        self.init(format, path: parts.count == 2 ? String(parts[1]) : nil)
    }

    /// - Parameter outputs: files for the formats without one. Each is used for the first format that its suffix
    ///   allows. A remaining file gets the format of its suffix.
    static func parse(_ formats: [String], outputs: [String] = []) throws(UsageError) -> [ReportSink] {
        guard !formats.isEmpty || !outputs.isEmpty else { return [.text] }
        var sinks: [ReportSink] = []
        for format in formats { sinks.append(try ReportSink(format)) }
        let named = sinks.count
        for file in outputs {
            let suiting = ending(of: file).flatMap { Format.ofSuffix[$0] } ?? Format.allCases
            if let place = sinks[..<named].firstIndex(where: { $0.path == nil && suiting.contains($0.format) }) {
                sinks[place] = ReportSink(sinks[place].format, path: file, flag: "-o")
            } else {
                sinks.append(ReportSink(try format(of: file), path: file, flag: "-o"))
            }
        }
        // If only files are given, standard output gets the text report.
        if formats.isEmpty, !sinks.contains(where: { $0.path == nil }) { sinks.append(.text) }
        try need(
            sinks.count(where: { $0.path == nil }) <= 1,
            "--format goes to standard output more than once: give all but one a file, such as json=out.json"
        )
        let paths = sinks.compactMap(\.path)
        try need(Set(paths).count == paths.count, "--format writes one file twice: give each report a file of its own")
        return sinks
    }

    private static func ending(of file: String) -> String? {
        file.split(separator: "/").last?.split(separator: ".").dropFirst().last.map { $0.lowercased() }
    }

    private static func format(of file: String) throws(UsageError) -> Format {
        if file == standardStream { return .text }
        guard let format = ending(of: file).flatMap({ Format.ofSuffix[$0]?.first }) else {
            throw UsageError(
                "-o \(quoted(file)) says no format: name it before, as in --format json -o \(oneLine(file)), or end it in "
                    + ".json, .html, .csv, .hlog, .hgrm, .md, .xml or .txt"
            )
        }
        return format
    }
}

extension ReportSink.Format {
    /// The report of a finished run; empty for one that is written during the run.
    func text(of result: RunResult, in style: TextStyle) throws(UsageError) -> String {
        switch self {
        case .text: result.text(in: style)
        case .json: result.json.text
        case .wrk: result.wrk
        case .html: try SavedReport(result.json, path: "the report").page()
        case .hgrm: result.metrics.headline(result.plan.options.work).percentileText()
        case .markdown: result.markdown
        case .junit: result.junit
        case .github: try Self.github(result)
        case .csv, .requests, .hlog: ""
        }
    }

    /// Writes annotations for the step of a workflow, and Markdown to its summary if GitHub names that file.
    private static func github(_ result: RunResult) throws(UsageError) -> String {
        if let path = environment("GITHUB_STEP_SUMMARY"), !path.isEmpty {
            try appendToFile(result.markdown, to: path, for: "GITHUB_STEP_SUMMARY")
        }
        return result.github
    }
}
