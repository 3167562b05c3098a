internal import UncurlTLS
package import UncurlText

/// The counts as JSON and back, counter for counter: the form in which one process sends them to another.
package enum MetricsCodec {
    private typealias Counts = [(String, any WritableKeyPath<Metrics, UInt64> & Sendable)]
    private typealias Times = [(String, any WritableKeyPath<Metrics, LatencyHistogram> & Sendable)]

    private static let counts: Counts = [
        ("sent", \.sent), ("completed", \.completed), ("failed", \.failed), ("in_flight", \.inFlight),
        ("sent_again", \.sentAgain), ("wire_in", \.wireBytesIn), ("body_in", \.bodyBytesIn),
        ("wire_out", \.wireBytesOut), ("body_out", \.bodyBytesOut), ("opened", \.connectionsOpened),
        ("refused", \.connectionsFailed), ("unfinished", \.connectionsUnfinished), ("stray", \.connectionsStray),
        ("redirects", \.redirects), ("follow_ups", \.followUps), ("drained", \.drained),
        ("drained_successes", \.drainedSuccesses), ("drained_in", \.drainedBytesIn),
        ("drained_out", \.drainedBytesOut),
    ]

    private static let times: Times = [
        ("success", \.success), ("http_error", \.httpError), ("failure", \.failure), ("connect", \.connect),
        ("tls", \.tls), ("first_byte", \.firstByte), ("rates", \.rates),
    ]

    private static let scheduleCounts: [(String, any WritableKeyPath<ScheduleMetrics, UInt64> & Sendable)] = [
        ("due", \.due), ("unsent", \.unsent), ("refused", \.refused), ("delayed", \.delayed),
    ]

    private static let scheduleTimes: [(String, any WritableKeyPath<ScheduleMetrics, LatencyHistogram> & Sendable)] = [
        ("corrected", \.corrected), ("unlagged", \.unlagged), ("lag", \.lag), ("wait", \.wait),
    ]

    private static let streamCounts: [(String, any WritableKeyPath<StreamMetrics, UInt64> & Sendable)] = [
        ("events", \.events), ("drained_events", \.drainedEvents), ("stalls", \.stalls), ("silent", \.silent),
    ]

    private static let streamTimes: [(String, any WritableKeyPath<StreamMetrics, LatencyHistogram> & Sendable)] = [
        ("first", \.first), ("corrected", \.correctedFirst), ("gaps", \.gaps),
    ]

    private static let socketCounts: [(String, any WritableKeyPath<WebSocketMetrics, UInt64> & Sendable)] = [
        ("opened", \.opened), ("kept", \.kept), ("dropped", \.dropped), ("pushed", \.pushed),
    ]

    private static let socketTimes: [(String, any WritableKeyPath<WebSocketMetrics, LatencyHistogram> & Sendable)] = [
        ("open", \.open)
    ]

    // MARK: Writing

    /// Encodes the counts, without those that are zero or empty.
    package static func encode(_ metrics: Metrics) -> JSONTree {
        var members = encode(metrics, counts, times)
        let statuses = metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }
        members.append(("statuses", .object(statuses.map { ("\($0)", .integer(metrics.statuses[$0])) })))
        let expected = metrics.expectedStatuses.sorted { $0.key < $1.key }
        members.append(("expected", .object(expected.map { ("\($0.key)", .integer($0.value)) })))
        if metrics.handshakes.count > 0 { members.append(("handshakes", encode(metrics.handshakes))) }
        members.append(("failures", .array(metrics.failures.sorted.map(encode))))
        members.append(("names", .array(metrics.names.map(encode))))
        if let stream = metrics.stream {
            members.append(("stream", .object(encode(stream, streamCounts, streamTimes))))
        }
        if let sockets = metrics.webSocket {
            members.append(("websocket", .object(encode(sockets, socketCounts, socketTimes))))
        }
        if let schedule = metrics.schedule {
            members.append(("schedule", .object(encode(schedule, scheduleCounts, scheduleTimes))))
        }
        return .object(members)
    }

    private static func encode<Root>(
        _ value: Root,
        _ counts: [(String, any WritableKeyPath<Root, UInt64> & Sendable)],
        _ times: [(String, any WritableKeyPath<Root, LatencyHistogram> & Sendable)]
    ) -> [(String, JSONTree)] {
        counts.filter { value[keyPath: $0.1] > 0 }.map { ($0.0, .integer(value[keyPath: $0.1])) }
            + times.filter { !value[keyPath: $0.1].isEmpty }.map { ($0.0, encode(value[keyPath: $0.1])) }
    }

    private static func encode(_ histogram: LatencyHistogram) -> JSONTree {
        guard let minimum = histogram.minimum, let maximum = histogram.maximum else { return .null }
        return .object([
            ("min", .integer(minimum)), ("max", .integer(maximum)), ("sum", .integer(histogram.sum)),
            ("over", .integer(histogram.clamped)), ("hdr", .string(HistogramCodec.text(histogram))),
        ])
    }

    private static func encode(_ log: HandshakeLog) -> JSONTree {
        let agreements = log.sorted.map { agreement, count in
            JSONTree.array([
                .integer(UInt64(agreement.version.rawValue)), .string(agreement.cipherSuite), .integer(count),
            ])
        }
        return .object([
            ("full", .integer(log.full)), ("resumed", .integer(log.resumed)), ("agreements", .array(agreements)),
        ])
    }

    private static func encode(_ failure: Failure, _ record: FailureLog.Record) -> JSONTree {
        .object([
            ("phase", .string(failure.phase.rawValue)), ("class", .string(failure.kind.rawValue)),
            ("errno", .integer(UInt64(failure.errno.magnitude))), ("detail", .string(failure.detail)),
            ("count", .integer(record.count)), ("first", .integer(record.first)), ("last", .integer(record.last)),
            ("example", .string(record.example)),
        ])
    }

    private static func encode(_ metrics: NamedMetrics) -> JSONTree {
        .object([
            ("completed", .integer(metrics.completed)), ("succeeded", .integer(metrics.succeeded)),
            ("failed", .integer(metrics.failed)), ("drained", .integer(metrics.drained)),
            ("body_in", .integer(metrics.bodyBytesIn)), ("latency", encode(metrics.latency)),
        ])
    }

    // MARK: Reading

    /// The most names: as many as a run has (``RequestNames/limit``). Each costs a histogram of 270 KB.
    private static let namesLimit = 100
    /// The longest word, in octets: a part's longest is the detail of a failure, of some hundred characters. The time
    /// of a comparison can grow with the square of the length.
    private static let wordLimit = 1_024

    /// Decodes counts. Returns nil for a value that does not encode counts.
    package static func decode(_ tree: JSONTree) -> Metrics? {
        var metrics = Metrics()
        guard case .object = tree, decode(tree, &metrics, counts, times) else { return nil }
        for (code, count) in tree["statuses"]?.members ?? [] {
            guard let code = Int(code), metrics.statuses.indices.contains(code), let count = count.integer else {
                return nil
            }
            metrics.statuses[code] = count
        }
        for (code, count) in tree["expected"]?.members ?? [] {
            guard let code = Int(code), let count = count.integer else { return nil }
            metrics.expectedStatuses[code] = count
        }
        if let log = tree["handshakes"] { metrics.handshakes = handshakes(log) }
        for row in tree["failures"]?.items ?? [] {
            guard let (failure, record) = failure(row) else { return nil }
            metrics.failures.add(failure, count: record.count, at: record.first, example: record.example)
            metrics.failures.add(failure, count: 0, at: record.last, example: record.example)
        }
        let names = tree["names"]?.items ?? []
        guard names.count <= namesLimit else { return nil }
        for row in names {
            var named = NamedMetrics()
            (named.completed, named.succeeded) = (row["completed"]?.integer ?? 0, row["succeeded"]?.integer ?? 0)
            (named.failed, named.drained) = (row["failed"]?.integer ?? 0, row["drained"]?.integer ?? 0)
            named.bodyBytesIn = row["body_in"]?.integer ?? 0
            guard let latency = histogram(row["latency"]) else { return nil }
            named.latency = latency
            metrics.names.append(named)
        }
        if let tree = tree["stream"] {
            var stream = StreamMetrics()
            guard decode(tree, &stream, streamCounts, streamTimes) else { return nil }
            metrics.stream = stream
        }
        if let tree = tree["websocket"] {
            var sockets = WebSocketMetrics()
            guard decode(tree, &sockets, socketCounts, socketTimes) else { return nil }
            metrics.webSocket = sockets
        }
        if let tree = tree["schedule"] {
            var schedule = ScheduleMetrics()
            guard decode(tree, &schedule, scheduleCounts, scheduleTimes) else { return nil }
            metrics.schedule = schedule
        }
        return metrics
    }

    private static func decode<Root>(
        _ tree: JSONTree,
        _ value: inout Root,
        _ counts: [(String, any WritableKeyPath<Root, UInt64> & Sendable)],
        _ times: [(String, any WritableKeyPath<Root, LatencyHistogram> & Sendable)]
    ) -> Bool {
        for (name, path) in counts { value[keyPath: path] = tree[name]?.integer ?? 0 }
        for (name, path) in times {
            guard let found = histogram(tree[name]) else { return false }
            value[keyPath: path] = found
        }
        return true
    }

    /// Returns an empty histogram for an absent value, and nil for a value that does not encode a histogram.
    private static func histogram(_ tree: JSONTree?) -> LatencyHistogram? {
        guard let tree else { return LatencyHistogram() }
        if case .null = tree { return LatencyHistogram() }
        guard let text = tree["hdr"]?.string, let slots = try? HistogramCodec.recorded(text: text),
            let minimum = tree["min"]?.integer, let maximum = tree["max"]?.integer, let sum = tree["sum"]?.integer
        else { return nil }
        let clamped = tree["over"]?.integer ?? 0
        return LatencyHistogram(slots.with(minimum: minimum, maximum: maximum, sum: sum, clamped: clamped))
    }

    private static func handshakes(_ tree: JSONTree) -> HandshakeLog {
        var agreements: [HandshakeLog.Agreement: UInt64] = [:]
        for row in tree["agreements"]?.items ?? [] where row.items.count == 3 {
            guard let version = row.items[0].integer.flatMap({ TLSVersion(rawValue: UInt16(clamping: $0)) }),
                let suite = word(row.items[1]), let count = row.items[2].integer
            else { continue }
            agreements[HandshakeLog.Agreement(version: version, cipherSuite: suite)] = count
        }
        return HandshakeLog(
            full: tree["full"]?.integer ?? 0,
            resumed: tree["resumed"]?.integer ?? 0,
            agreements: agreements
        )
    }

    /// A text that is not too long to be compared; nil for any other value.
    private static func word(_ tree: JSONTree) -> String? {
        tree.string.flatMap { $0.utf8.count <= wordLimit ? $0 : nil }
    }

    private static func failure(_ row: JSONTree) -> (Failure, FailureLog.Record)? {
        guard let phase = row["phase"].flatMap(word).flatMap({ Phase(rawValue: $0) }),
            let kind = row["class"].flatMap(word).flatMap({ FailureClass(rawValue: $0) }),
            let detail = word(row["detail"] ?? ""), let count = row["count"]?.integer,
            let first = row["first"]?.integer, let last = row["last"]?.integer
        else { return nil }
        let errno = CInt(clamping: row["errno"]?.integer ?? 0)
        return (
            Failure(phase, kind, errno: errno, detail: detail),
            FailureLog.Record(count: count, first: first, last: last, example: row["example"]?.string ?? "")
        )
    }
}
