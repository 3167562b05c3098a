import UncurlLoad
import UncurlLoadReports

/// One report: its format and its file.
struct ReportSink: Hashable, Sendable {
    enum Format: String, Hashable, Sendable, CaseIterable {
        case text, json, wrk, html
        /// HdrHistogram's percentile text.
        case hgrm
        /// Formats for pages and tools: Markdown, a list of tests, and GitHub's annotations.
        case markdown, junit, github
        /// Formats that are written during the run: intervals, single requests, HdrHistogram's interval log.
        case csv, requests, hlog

        var isStream: Bool {
            switch self {
            case .csv, .requests, .hlog: true
            case .text, .json, .wrk, .html, .hgrm, .markdown, .junit, .github: false
            }
        }

        /// Whether the format shows a run's course, and not only its totals.
        var showsCourse: Bool {
            switch self {
            case .csv, .hlog, .json, .html: true
            case .text, .wrk, .hgrm, .requests, .markdown, .junit, .github: false
            }
        }

        /// Whether a file with this suffix may have the format. Only suffixes of other formats are excluded.
        func suits(_ ending: String?) -> Bool {
            switch ending {
            case "json"?: self == .json
            case "html"?, "htm"?: self == .html
            case "hlog"?: self == .hlog
            case "hgrm"?: self == .hgrm
            case "csv"?: self == .csv || self == .requests
            case "md"?: self == .markdown
            case "xml"?: self == .junit
            case "txt"?: [.text, .wrk, .hgrm].contains(self)
            case nil, .some: true
            }
        }

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    let format: Format
    /// The file; nil for standard output.
    let path: String?
    /// The flag that named the file, for error messages.
    let flag: String

    static let text = ReportSink(.text, path: nil)

    init(_ format: Format, path: String?, flag: String = "--format") {
        (self.format, self.path, self.flag) = (format, path == Files.standard ? nil : path, flag)
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
            let ending = ending(of: file)
            if let place = sinks[..<named].firstIndex(where: { $0.path == nil && $0.format.suits(ending) }) {
                sinks[place] = ReportSink(sinks[place].format, path: file, flag: "-o")
            } else {
                sinks.append(ReportSink(try format(of: file), path: file, flag: "-o"))
            }
        }
        // If only files are given, standard output gets the text report.
        if formats.isEmpty, !sinks.contains(where: { $0.path == nil }) { sinks.append(.text) }
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

    private static func ending(of file: String) -> String? {
        file.split(separator: "/").last?.split(separator: ".").dropFirst().last.map { $0.lowercased() }
    }

    private static func format(of file: String) throws(UsageError) -> Format {
        if file == Files.standard { return .text }
        switch ending(of: file) {
        case "json"?: return .json
        case "html"?, "htm"?: return .html
        case "csv"?: return .csv
        case "hlog"?: return .hlog
        case "hgrm"?: return .hgrm
        case "md"?: return .markdown
        case "xml"?: return .junit
        case "txt"?: return .text
        case nil, .some:
            throw UsageError(
                "-o \(quoted(file)) says no format: name it before, as in --format json -o \(oneLine(file)), or end it in "
                    + ".json, .html, .csv, .hlog, .hgrm, .md, .xml or .txt"
            )
        }
    }
}

extension ReportSink.Format {
    /// The report of a finished run; empty for one that is written during the run.
    func text(of result: RunResult) throws(UsageError) -> String {
        switch self {
        case .text: TextReport.text(result)
        case .json: JSONReport.text(result)
        case .wrk: WrkReport.text(result)
        case .html: try orUsage(report: try HTMLReport.text(result))
        case .hgrm: PercentileText.text(result.metrics.headline(result.plan.options.work))
        case .markdown: PipelineReport.markdown(result)
        case .junit: PipelineReport.junit(result)
        case .github: try Self.github(result)
        case .csv, .requests, .hlog: ""
        }
    }

    /// Writes annotations for the step of a workflow, and Markdown to its summary if GitHub names that file.
    private static func github(_ result: RunResult) throws(UsageError) -> String {
        if let path = environment("GITHUB_STEP_SUMMARY"), !path.isEmpty {
            try Files.append(PipelineReport.markdown(result), to: path, for: "GITHUB_STEP_SUMMARY")
        }
        return PipelineReport.github(result)
    }
}
