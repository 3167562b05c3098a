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

    package init(path: String) throws(ReportError) {
        let bytes: [UInt8]
        do throws(FileProblem) {
            bytes = try Files.read(path, limit: Self.sizeLimit)
        } catch {
            throw .file(error)
        }
        let document: JSONTree
        do throws(JSONReader.Problem) {
            document = try JSONReader.read(bytes)
        } catch {
            throw .notJSON(path, error)
        }
        try self.init(document, path: path)
    }

    package init(_ document: JSONTree, path: String) throws(ReportError) {
        guard document["volley"]?.string != nil, let schema = document["schema"] else {
            throw .foreign(path)
        }
        guard let number = schema.integer, (1...Self.schema).contains(number) else {
            throw .schema(path, found: schema.number.map { "\($0)" } ?? "?", newest: Self.schema)
        }
        (self.path, self.document) = (path, number == 1 ? Self.renamed(document) : document)
    }

    /// A report of schema 1, in which raw times were named successes, with the current name.
    private static func renamed(_ document: JSONTree) -> JSONTree {
        var document = document.with("schema", .integer(schema))
        if case .object(let members)? = document["latency"] {
            document = document.with(
                "latency",
                .object(members.map { (OctetText($0.0) == "success" ? "raw" : $0.0, $0.1) })
            )
        }
        return document
    }

    /// The histogram of a section and a name, such as `latency` and `raw`; nil where nothing was counted.
    func histogram(_ section: String, _ name: String) throws(ReportError) -> LatencyHistogram? {
        guard let value = document[section]?[name] else { return nil }
        return try Self.histogram(value, path)
    }

    static func histogram(_ value: JSONTree, _ path: String) throws(ReportError) -> LatencyHistogram? {
        try slots(value, path).map { LatencyHistogram($0) }
    }

    /// Reads the counters and the exact figures.
    static func slots(_ value: JSONTree, _ path: String) throws(ReportError) -> RecordedSlots? {
        if case .null = value { return nil }
        guard let text = value["hdr"]?.string else {
            throw .noHistograms(path)
        }
        let slots: RecordedSlots
        do throws(HistogramError) {
            slots = try HistogramCodec.recorded(text: text)
        } catch {
            throw .histogram(path, error)
        }
        guard let minimum = value["min"]?.integer, let maximum = value["max"]?.integer, let sum = value["sum"]?.integer
        else {
            return slots
        }
        let clamped = value["over_range"]?.integer ?? 0
        return slots.with(minimum: minimum, maximum: maximum, sum: sum, clamped: clamped)
    }

    var isHandshakes: Bool { runMember("work") == "handshakes" }

    /// A text of the run's plan; nil where it is none.
    func runMember(_ name: String) -> OctetText? { document["run"]?[name]?.string.map { OctetText($0) } }

    /// The times that the run measured.
    package func headline() throws(ReportError) -> LatencyHistogram? {
        if isHandshakes { return try histogram("latency", "tls") }
        if let corrected = try histogram("schedule", "corrected") { return corrected }
        return try histogram("latency", "raw")
    }

    /// Successes or connections per second.
    package var rate: Double {
        document["rate"]?[isHandshakes ? "connections_per_second" : "successes_per_second"]?.number ?? 0
    }

    package func intervals() throws(ReportError) -> [Interval] {
        var found: [Interval] = []
        for point in document["intervals"]?.items ?? [] {
            guard let start = point["start_ns"]?.number, let end = point["end_ns"]?.number, end > start,
                let count = point["completed"]?.number
            else { throw .interval(path) }
            let (drained, errors) = (point["drained"]?.number ?? 0, point["http_errors"]?.number ?? 0)
            let drainedErrors = drained - (point["drained_succeeded"]?.number ?? drained)
            let inTime = count - drained
            let slots = try point["latency"].flatMap { value throws(ReportError) in try Self.slots(value, path) }
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
