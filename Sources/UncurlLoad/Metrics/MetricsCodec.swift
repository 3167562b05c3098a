internal import UncurlTLS
package import UncurlText

/// The counts as JSON and back, counter for counter: the form in which one process sends them to another.
extension Metrics {
    private static let parts: [(name: String, part: Part)] = [
        ("stream", .stream), ("websocket", .webSocket), ("schedule", .schedule),
    ]

    // MARK: Writing

    /// Encodes the counts, without those that are zero or empty.
    package static func encode(_ metrics: Metrics) -> JSONTree {
        var members = encode(metrics, .run)
        members.append(("statuses", .object(metrics.seenStatuses.map { ("\($0.code)", .integer($0.count)) })))
        let expected = metrics.expectedStatuses.sorted { $0.key < $1.key }
        members.append(("expected", .object(expected.map { ("\($0.key)", .integer($0.value)) })))
        if metrics.handshakes.count > 0 { members.append(("handshakes", encode(metrics.handshakes))) }
        members.append(("failures", .array(metrics.failures.sorted.map(encode))))
        members.append(("names", .array(metrics.names.map(encode))))
        for (name, part) in parts where metrics.has(part) { members.append((name, .object(encode(metrics, part)))) }
        return .object(members)
    }

    private static func encode(_ metrics: Metrics, _ part: Part) -> [(String, JSONTree)] {
        figures(of: part).compactMap { figure, tag in
            switch figure.value {
            case .count(let count): metrics[count] > 0 ? (tag, .integer(metrics[count])) : nil
            case .times(let times): metrics[times].isEmpty ? nil : (tag, encode(metrics[times]))
            case .whole, .perSecond, .ratio, .flag, .other: nil
            }
        }
    }

    private static func figures(of part: Part) -> [(Figure, tag: String)] {
        Figure.all.compactMap { figure in
            figure.section.part == part ? figure.tag.map { (figure, $0) } : nil
        }
    }

    private static func encode(_ histogram: LatencyHistogram) -> JSONTree {
        guard let minimum = histogram.minimum, let maximum = histogram.maximum else { return .null }
        return .object([
            ("min", .integer(minimum)), ("max", .integer(maximum)), ("sum", .integer(histogram.sum)),
            ("over", .integer(histogram.clamped)), ("hdr", .string(histogram.hdr)),
        ])
    }

    private static func encode(_ log: HandshakeLog) -> JSONTree {
        let agreements = log.sorted.map { version, cipherSuite, count in
            JSONTree.array([
                .integer(UInt64(version.rawValue)), .string(cipherSuite), .integer(count),
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
        let counts = NamedMetrics.counts.map { ($0.name, JSONTree.integer(metrics[keyPath: $0.count])) }
        return .object(counts + [("latency", encode(metrics.latency))])
    }

    // MARK: Reading

    /// The most names: as many as a run has (``RequestNames/limit``). Each costs a histogram of 270 KB.
    private static let namesLimit = 100
    /// The longest word, in octets: a part's longest is the detail of a failure, of some hundred characters. The time
    /// of a comparison can grow with the square of the length.
    private static let wordLimit = 1_024

    package static func decode(_ tree: JSONTree) -> Metrics? {
        var metrics = Metrics()
        guard case .object = tree, decode(tree, .run, &metrics) else { return nil }
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
            guard metrics.failures.add(row) else { return nil }
        }
        let names = tree["names"]?.items ?? []
        guard names.count <= namesLimit else { return nil }
        for row in names {
            var named = NamedMetrics()
            for (name, count) in NamedMetrics.counts { named[keyPath: count] = row[name]?.integer ?? 0 }
            guard let latency = histogram(row["latency"]) else { return nil }
            named.latency = latency
            metrics.names.append(named)
        }
        for (name, part) in parts {
            guard let members = tree[name] else { continue }
            metrics.parts.formUnion(part)
            guard decode(members, part, &metrics) else { return nil }
        }
        return metrics
    }

    private static func decode(_ tree: JSONTree, _ part: Part, _ metrics: inout Metrics) -> Bool {
        for (figure, tag) in figures(of: part) {
            switch figure.value {
            case .count(let count): metrics[count] = tree[tag]?.integer ?? 0
            case .times(let times):
                guard let found = histogram(tree[tag]) else { return false }
                metrics[times] = found
            case .whole, .perSecond, .ratio, .flag, .other: break
            }
        }
        return true
    }

    /// Returns an empty histogram for an absent value, and nil for a value that does not encode a histogram.
    private static func histogram(_ tree: JSONTree?) -> LatencyHistogram? {
        guard let tree else { return LatencyHistogram() }
        if case .null = tree { return LatencyHistogram() }
        guard let text = tree["hdr"]?.string, let slots = try? LatencyHistogram.recorded(hdr: text) else { return nil }
        return slots.with(tree, clamped: "over").map { LatencyHistogram($0) }
    }

    private static func handshakes(_ tree: JSONTree) -> HandshakeLog {
        var agreements: [TLSVersion: [String: UInt64]] = [:]
        for row in tree["agreements"]?.items ?? [] where row.items.count == 3 {
            guard let version = row.items[0].integer.flatMap({ TLSVersion(rawValue: UInt16(clamping: $0)) }),
                let suite = word(row.items[1]), let count = row.items[2].integer
            else { continue }
            agreements[version, default: [:]][suite] = count
        }
        return HandshakeLog(
            full: tree["full"]?.integer ?? 0,
            resumed: tree["resumed"]?.integer ?? 0,
            agreements: agreements
        )
    }

    /// A text that is not too long to be compared; nil for any other value.
    fileprivate static func word(_ tree: JSONTree) -> String? {
        tree.string.flatMap { $0.utf8.count <= wordLimit ? $0 : nil }
    }
}

extension RecordedSlots {
    /// Returns the same slots with the exact figures of an object; nil where it lacks one.
    ///
    /// - Parameter clamped: The name of the count of values that were too high.
    package func with(_ tree: JSONTree, clamped: String) -> RecordedSlots? {
        guard let minimum = tree["min"]?.integer, let maximum = tree["max"]?.integer, let sum = tree["sum"]?.integer
        else { return nil }
        return with(minimum: minimum, maximum: maximum, sum: sum, clamped: tree[clamped]?.integer ?? 0)
    }
}

extension FailureLog {
    /// Returns false for a value that does not encode a failure.
    fileprivate mutating func add(_ row: JSONTree) -> Bool {
        guard let phase = row["phase"].flatMap(Metrics.word).flatMap({ Phase(rawValue: $0) }),
            let kind = row["class"].flatMap(Metrics.word).flatMap({ FailureClass(rawValue: $0) }),
            let detail = Metrics.word(row["detail"] ?? ""), let count = row["count"]?.integer,
            let first = row["first"]?.integer, let last = row["last"]?.integer
        else { return false }
        let failure = Failure(phase, kind, errno: CInt(clamping: row["errno"]?.integer ?? 0), detail: detail)
        add(failure, count, from: first, to: last) { row["example"]?.string ?? "" }
        return true
    }
}
