package import UncurlLoad
package import UncurlText

/// Why a saved report or log cannot be used. Paths are as the user gave them.
package enum ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    case file(FileProblem)
    case notJSON(String, JSONReader.Problem)
    /// The file is JSON, but not a report of this kind.
    case foreign(String)
    case schema(String, found: String, newest: UInt64)
    /// The report has no histograms, as from an older volley.
    case noHistograms(String)
    case histogram(String, HistogramError)
    case interval(String)
    case logLine(String, number: Int, HistogramError)
    case logTooLong(String, limit: Int)
    case emptyLog(String)
    /// The log and those before it have more tags than a run.
    case tooManyTags(String, limit: Int)
    /// The reports to compare are of two kinds of run; this member differs.
    case twoKinds(String, String, member: String)
    /// One of the reports to merge is of another kind of run.
    case otherKind(String, than: String, member: String)
    /// A member has another type than in the earlier reports.
    case otherValue(String, member: String)
    case tooManyValues(String, isLog: Bool)
    case nothingToMerge

    package var description: String {
        switch self {
        case .file(let problem): "the report \(problem): \(problem.advice)"
        case .notJSON(let path, let problem):
            "\(quoted(path)) is not a JSON report: at byte \(problem.offset) \(problem)"
        case .foreign(let path): "\(quoted(path)) is JSON, but not a report of volley"
        case .schema(let path, let found, let newest):
            "\(quoted(path)) has the schema \(found) and this volley reads up to \(newest): use the volley that wrote it"
        case .noHistograms(let path): "\(quoted(path)) holds no histograms: it was written by an older volley"
        case .histogram(let path, let error): "\(quoted(path)) holds a histogram that cannot be read: \(error)"
        case .interval(let path): "\(quoted(path)) has an interval that cannot be read"
        case .logLine(let path, let number, let error):
            "\(quoted(path)), line \(number), is not a line of a histogram log: \(error)"
        case .logTooLong(let path, let limit): "\(quoted(path)) has more than \(limit) lines: use longer intervals"
        case .emptyLog(let path): "\(quoted(path)) has no histogram in it"
        case .tooManyTags(let path, let limit):
            "\(quoted(path)) and what was before it have more than \(limit) tags: merge the logs of one run"
        case .twoKinds(let old, let new, let member):
            "\(quoted(old)) and \(quoted(new)) are of two kinds of run: \(member) differs"
        case .otherKind(let path, let first, let member):
            "\(quoted(path)) is of another kind of run than \(quoted(first)): \(member) differs"
        case .otherValue(let path, let member):
            "\(quoted(path)) holds another kind of \(quoted(member)) than the reports before it"
        case .tooManyValues(let path, let isLog):
            "\(quoted(path)) and what was before it count more values than any run: they are no \(isLog ? "logs" : "reports") of runs"
        case .nothingToMerge: "merge has nothing to merge: name reports"
        }
    }
}
