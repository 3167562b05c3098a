package import UncurlLoad
package import UncurlText

/// A JSON report that an earlier run or another process has written.
package struct SavedReport: Sendable {
    package let path: String
    package let document: JSONTree

    /// The newest schema version. It is raised when a member is removed or changes its meaning.
    package static let schema: UInt64 = 2

    /// The intervals of an hour with their histograms take some megabytes.
    private static let sizeLimit = 512 << 20

    package init(path: String) throws(UsageError) {
        let bytes: [UInt8]
        do throws(UsageError) { bytes = try readFile(path, limit: Self.sizeLimit) } catch { throw .file(error) }
        let document: JSONTree
        do throws(JSONReader.Problem) { document = try JSONReader.read(bytes) } catch { throw .notJSON(path, error) }
        try self.init(document, path: path)
    }

    package init(_ document: JSONTree, path: String) throws(UsageError) {
        guard document["volley"]?.string != nil, let schema = document["schema"] else { throw .foreign(path) }
        guard let number = schema.integer, (1...Self.schema).contains(number) else {
            throw .schema(path, found: schema.number.map { "\($0)" } ?? "?", newest: Self.schema)
        }
        (self.path, self.document) = (path, number == 1 ? Self.renamed(document) : document)
    }

    /// A report of schema 1, in which raw times were named successes, with the current name.
    private static func renamed(_ document: JSONTree) -> JSONTree {
        let document = document.with("schema", .integer(schema))
        guard case .object(let members)? = document["latency"] else { return document }
        let renamed = members.map { (OctetText($0.0) == "success" ? "raw" : $0.0, $0.1) }
        return document.with("latency", .object(renamed))
    }

    func histogram(_ figure: Figure) throws(UsageError) -> LatencyHistogram? {
        guard let value = document[figure.section.rawValue]?[figure.name] else { return nil }
        return try Self.histogram(value, path)
    }

    func histogram(_ times: Times) throws(UsageError) -> LatencyHistogram? {
        try histogram(Figure.times[times.rawValue])
    }

    static func histogram(_ value: JSONTree, _ path: String) throws(UsageError) -> LatencyHistogram? {
        try slots(value, path).map { LatencyHistogram($0) }
    }

    /// The histogram of a row or an interval; nil where nothing was counted.
    static func times(of row: JSONTree, _ path: String) throws(UsageError) -> LatencyHistogram? {
        guard let value = row["latency"] else { return nil }
        return try histogram(value, path)
    }

    static func slots(_ value: JSONTree, _ path: String) throws(UsageError) -> RecordedSlots? {
        if case .null = value { return nil }
        guard let text = value["hdr"]?.string else { throw .noHistograms(path) }
        let slots: RecordedSlots
        do throws(UsageError) {
            slots = try LatencyHistogram.recorded(hdr: text)
        } catch {
            throw .histogram(path, error)
        }
        return slots.with(value, clamped: "over_range") ?? slots
    }

    var isHandshakes: Bool { runMember("work") == "handshakes" }

    /// A text of the run's plan; nil where it is none.
    func runMember(_ name: String) -> OctetText? { document["run"]?[name]?.string.map { OctetText($0) } }

    package func headline() throws(UsageError) -> LatencyHistogram? {
        if isHandshakes { return try histogram(.tls) }
        if let corrected = try histogram(.corrected) { return corrected }
        return try histogram(.success)
    }

    /// Successes or connections per second.
    package var rate: Double {
        document["rate"]?[isHandshakes ? "connections_per_second" : "successes_per_second"]?.number ?? 0
    }

    package func intervals() throws(UsageError) -> [Interval] {
        var found: [Interval] = []
        for point in document["intervals"]?.items ?? [] {
            guard let start = point["start_ns"]?.number, let end = point["end_ns"]?.number, end > start,
                let count = point["completed"]?.number
            else { throw .interval(path) }
            let (drained, errors) = (point["drained"]?.number ?? 0, point["http_errors"]?.number ?? 0)
            let drainedErrors = drained - (point["drained_succeeded"]?.number ?? drained)
            let inTime = count - drained
            let slots = try point["latency"].flatMap { value throws(UsageError) in try Self.slots(value, path) }
            found.append(
                Interval(
                    start: start / 1e9,
                    end: end / 1e9,
                    perSecond: inTime * 1e9 / (end - start),
                    successesPerSecond: (inTime - (errors - drainedErrors)) * 1e9 / (end - start),
                    times: slots?.summary(percentiles: Interval.percentiles),
                    stolen: (point["stolen_ns"]?.number ?? 0) / (end - start),
                    shares: Self.shares(point)
                )
            )
        }
        return found
    }
}

extension SavedReport {
    package typealias Count = (part: UInt64, all: UInt64)

    static func share(_ count: Count) -> Double { count.all == 0 ? 0 : min(1, Double(count.part) / Double(count.all)) }

    package struct Interval: Sendable {
        static let percentiles: [Double] = [50, 90, 99, 99.9]

        /// Seconds after the start of the run's measured part.
        var start: Double
        var end: Double
        /// Completed requests or opened connections per second.
        package var perSecond: Double
        /// Of these, the ones without an HTTP error.
        var successesPerSecond: Double
        /// The figures of the times that a comparison needs; nil where nothing was counted.
        var times: LatencyHistogram.Summary?
        /// The processor time that the host took, as a share of the interval; 0 where it is not known.
        var stolen = 0.0
        /// The share of each kind of error among the requests that ended in the interval; empty where none ended.
        var shares: [Figure: Double] = [:]

        var seconds: Double { end - start }
    }

    /// How often a kind of error occurred, and among how many.
    ///
    /// - Parameter kind: Of ``Figure/compared``.
    package func count(_ kind: Figure) -> Count {
        // The numbers come from a file and may be anything, so the addition must not trap.
        let count = { (name: String) -> UInt64 in
            switch name {
            case "completed" where isHandshakes: document["connections"]?["opened"]?.integer ?? 0
            case "connects_failed": document["connections"]?["failed"]?.integer ?? 0
            default: (document["requests"]?[name] ?? document["schedule"]?[name])?.integer ?? 0
            }
        }
        let failed = count("failed") &+ count("connects_failed")
        let part =
            switch kind.name {
            case "errors": failed &+ count("http_errors")
            case "failed": failed
            default: count(kind.name)
            }
        return (part, kind.whole.map(count) ?? (count("completed") &+ failed))
    }

    private static func shares(_ point: JSONTree) -> [Figure: Double] {
        let count = { (name: String) in point[name]?.number ?? 0 }
        let failed = count("failed") + count("connects_failed")
        let all = count("completed") + failed
        guard all > 0 else { return [:] }
        return Figure.compared.reduce(into: [:]) { shares, kind in
            switch kind.name {
            case "errors": shares[kind] = (failed + count("http_errors")) / all
            case "failed": shares[kind] = failed / all
            default: shares[kind] = point[kind.name]?.number.map { $0 / all }
            }
        }
    }

    package static func value(_ metric: ThresholdMetric, _ row: JSONTree) throws(UsageError) -> Double? {
        let count = { (name: String) in row[name]?.integer ?? 0 }
        var metrics = NamedMetrics()
        (metrics.completed, metrics.failed) = (count("completed"), count("failed"))
        metrics.succeeded = metrics.completed &- count("http_errors")
        if let times = try times(of: row, "the report") { metrics.latency = times }
        return Measured.value(metric, of: metrics)
    }

    /// The reasons why volley was the limit; empty where it was not.
    package var generatorLimits: [String] {
        (document["schedule"]?["generator_limits"]?.items ?? []).compactMap(\.string)
    }

    package var isLimited: Bool { !generatorLimits.isEmpty }

    /// The achieved share of the wanted rate; nil in a closed loop.
    var rateRatio: Double? { document["schedule"]?["rate_ratio"]?.number }

    /// Reasons why the figures are not only the server's.
    func remarks(_ name: String) -> [String] {
        var found = generatorLimits.map { "\(name) is invalid: volley was the limit: \(oneLine($0, limit: 400))" }
        if document["run"]?["interrupted"]?.bool == true { found.append("\(name) was interrupted") }
        return found
    }

    func differences(to other: SavedReport) -> [String] {
        // The settings that two runs must share to be comparable.
        RunSetting.all.filter(\.isCompared).map(\.name).compactMap { name in
            // The report of an older volley may lack the member.
            guard let mine = document["run"]?[name], let theirs = other.document["run"]?[name] else { return nil }
            let values = [mine, theirs].map { value in
                switch value {
                case .string(let text): oneLine(text, limit: 400)
                case .integer(let number): name.hasSuffix("_ns") ? timeText(number) : grouped(number)
                case .bool(let flag): flag ? "yes" : "no"
                case .number(let number): "\(number)"
                case .null, .array, .object: "none"
                }
            }
            guard values[0] != values[1] else { return nil }
            let title = name.replacingEach("_ns", by: "").replacingEach("_", by: " ")
            return "the runs are not alike: \(title) \(values[0]) before, \(values[1]) after"
        }
    }
}

/// Why a saved report or log cannot be used. Paths are as the user gave them.
extension UsageError {
    private init(_ path: String, _ words: String) { self.init("\(quoted(path)) \(words)") }

    static func file(_ problem: UsageError) -> Self { Self("the report \(problem)") }

    static func notJSON(_ path: String, _ problem: JSONReader.Problem) -> Self {
        Self(path, "is not a JSON report: at byte \(problem.offset) \(problem)")
    }

    static func foreign(_ path: String) -> Self {
        Self(path, "is JSON, but not a report of volley: make one with --format json")
    }

    static func schema(_ path: String, found: String, newest: UInt64) -> Self {
        let advice = "this volley reads up to \(newest): use the volley that wrote it"
        return Self(path, "has the schema \(found) and \(advice)")
    }

    static func noHistograms(_ path: String) -> Self {
        Self(path, "holds no histograms: it was written by an older volley")
    }

    static func histogram(_ path: String, _ error: UsageError) -> Self {
        Self(path, "holds a histogram that cannot be read: \(error)")
    }

    static func interval(_ path: String) -> Self { Self(path, "has an interval that cannot be read") }

    static func logLine(_ path: String, number: Int, _ error: UsageError) -> Self {
        Self("\(quoted(path)), line \(number), is not a line of a histogram log: \(error)")
    }

    static func logTooLong(_ path: String, limit: Int) -> Self {
        Self(path, "has more than \(limit) lines: use longer intervals")
    }

    static func emptyLog(_ path: String) -> Self { Self(path, "has no histogram in it") }

    static func tooManyTags(_ path: String, limit: Int) -> Self {
        Self(path, "and what was before it have more than \(limit) tags: merge the logs of one run")
    }

    static func twoKinds(_ old: String, _ new: String, member: String) -> Self {
        Self("\(quoted(old)) and \(quoted(new)) are of two kinds of run: \(member) differs")
    }

    static func otherKind(_ path: String, than first: String, member: String) -> Self {
        Self(path, "is of another kind of run than \(quoted(first)): \(member) differs")
    }

    static func otherValue(_ path: String, member: String) -> Self {
        Self(path, "holds another kind of \(quoted(member)) than the reports before it")
    }

    static func tooManyValues(_ path: String, isLog: Bool) -> Self {
        let what = isLog ? "logs" : "reports"
        return Self(path, "and what was before it count more values than any run: they are no \(what) of runs")
    }

    static let nothingToMerge = Self("merge has nothing to merge: name reports")
}
