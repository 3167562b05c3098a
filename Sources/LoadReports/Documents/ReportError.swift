package import LoadGenerator
package import TextCoding

/// Why something that was saved of a run cannot be used. Paths are as they were given.
package enum ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    case file(FileProblem)
    case notJSON(String, JSONReader.Problem)
    /// JSON, but none of these reports.
    case foreign(String)
    case schema(String, found: String, newest: UInt64)
    /// An older volley wrote no histograms.
    case noHistograms(String)
    case histogram(String, HistogramError)
    case interval(String)
    case logLine(String, number: Int, HistogramError)
    case logTooLong(String, limit: Int)
    case emptyLog(String)
    /// Two reports that are to be compared are of two kinds of run, by this member.
    case twoKinds(String, String, member: String)
    /// Of several reports that are to be merged, one is of another kind of run.
    case otherKind(String, than: String, member: String)
    /// A member is of another kind than in the reports before it.
    case otherValue(String, member: String)
    case tooManyValues(String, isLog: Bool)
    case nothingToMerge

    package var description: String {
        switch self {
        case .file(let problem): "the report \(problem): \(problem.advice)"
        case .notJSON(let path, let problem): "\(quoted(path)) is no JSON report: at byte \(problem.offset) \(problem)"
        case .foreign(let path): "\(quoted(path)) is JSON, but no report of volley's"
        case .schema(let path, let found, let newest):
            "\(quoted(path)) has the schema \(found) and this volley reads up to \(newest): use the volley that wrote it"
        case .noHistograms(let path): "\(quoted(path)) holds no histograms: it was written by an older volley"
        case .histogram(let path, let error): "\(quoted(path)) holds a histogram that cannot be read: \(error)"
        case .interval(let path): "\(quoted(path)) has an interval that cannot be read"
        case .logLine(let path, let number, let error):
            "\(quoted(path)), line \(number), is no line of a histogram log: \(error)"
        case .logTooLong(let path, let limit): "\(quoted(path)) has more than \(limit) lines: use longer intervals"
        case .emptyLog(let path): "\(quoted(path)) has no histogram in it"
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
