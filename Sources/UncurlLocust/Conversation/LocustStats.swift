import UncurlLoad

/// The counts since the last report, in the format of Locust's `stats`. Its times are milliseconds.
struct LocustStats: Sendable {
    var name: String
    var method: String
    /// Whether response times are as coarse as those of Locust's own workers.
    var isCoarse: Bool
    var names: [String] = []
    /// The metrics of each full second since 1970.
    private(set) var seconds: [(unix: UInt64, metrics: Metrics)] = []

    init(name: String, method: String, isCoarse: Bool = false, names: [String] = []) {
        (self.name, self.method, self.isCoarse, self.names) = (name, method, isCoarse, names)
    }

    var isEmpty: Bool { seconds.isEmpty }

    mutating func add(_ metrics: Metrics, unix: UInt64) { seconds.append((unix, metrics)) }

    func data(classes: MessagePack, users: Int) -> MessagePack {
        let metrics = seconds.reduce(into: Metrics()) { $0.merge($1.metrics) }
        let all = Self.figures(metrics)
        let own = all.requests == 0 ? [] : [entry(all, name: name, method: method) { Self.figures($0) }]
        return .map([
            "stats": .array(names.isEmpty ? own : named(metrics)),
            "stats_total": entry(all, name: "Aggregated", method: "") { Self.figures($0) },
            "errors": .map(errors(metrics)),
            "user_classes_count": users == 0 ? .map([]) : classes,
            "user_count": .integer(Int64(users)),
        ])
    }

    /// The figures of an entry. In Locust, a failure is a request too, as is an attempt without a connection.
    private typealias Figures = (requests: UInt64, failures: UInt64, content: UInt64, times: LatencyHistogram)

    private static func figures(_ metrics: Metrics) -> Figures {
        var times = metrics.latency
        if !metrics.has(.schedule) {
            times.merge(metrics[.httpError])
            times.merge(metrics[.failure])
        }
        let failed = metrics[.failed] &+ metrics[.connectionsFailed]
        return (metrics[.completed] &+ failed, failed &+ metrics.httpErrors, metrics[.bodyBytesIn], times)
    }

    /// The figures of one name, for which only successes have times.
    private static func figures(_ metrics: NamedMetrics) -> Figures {
        (metrics.ended, metrics.errors, metrics.bodyBytesIn, metrics.latency)
    }

    private func named(_ metrics: Metrics) -> [MessagePack] {
        zip(names, metrics.names).enumerated().compactMap { place, pair in
            guard pair.1.ended > 0 else { return nil }
            return entry(Self.figures(pair.1), name: pair.0, method: "") {
                Self.figures($0.names.indices.contains(place) ? $0.names[place] : NamedMetrics())
            }
        }
    }

    private func entry(
        _ figures: Figures,
        name: String,
        method: String,
        _ part: (Metrics) -> Figures
    ) -> MessagePack {
        let latest = seconds.last.map { Double($0.unix) }
        let earliest = seconds.first.map { Double($0.unix) }
        let parts = seconds.map { (unix: $0.unix, figures: part($0.metrics)) }
        return .map([
            "name": .string(name),
            "method": .string(method),
            "last_request_timestamp": figures.requests == 0 ? .null : Self.optional(latest),
            "start_time": .number(earliest ?? 0),
            "num_requests": Self.integer(figures.requests),
            // Requests without a response time, such as attempts without a connection.
            "num_none_requests": Self.integer(figures.requests &- min(figures.requests, figures.times.count)),
            "num_failures": Self.integer(figures.failures),
            "total_response_time": .number(Double(figures.times.sum) / 1e6),
            "max_response_time": .number(Double(figures.times.maximum ?? 0) / 1e6),
            // Null and not 0, because the master keeps the minimum of all reports.
            "min_response_time": Self.optional(figures.times.minimum.map { Double($0) / 1e6 }),
            "total_content_length": Self.integer(figures.content),
            "response_times": .map(buckets(figures.times)),
            "num_reqs_per_sec": .map(Self.perSecond(parts.map { ($0.unix, $0.figures.requests) })),
            "num_fail_per_sec": .map(Self.perSecond(parts.map { ($0.unix, $0.figures.failures) })),
        ])
    }

    private func buckets(_ times: LatencyHistogram) -> [MessagePack.Pair] {
        var counts: [Double: UInt64] = [:]
        times.forEachRecorded { value, count in
            counts[Self.milliseconds(value, isCoarse: isCoarse), default: 0] &+= count
        }
        return counts.sorted { $0.key < $1.key }.map {
            // Whole numbers are written as integers: dashboards sort the keys as text and expect no fractions.
            let key: MessagePack = $0.key == $0.key.rounded() ? .integer(Int64($0.key)) : .number($0.key)
            return MessagePack.Pair(key, Self.integer($0.value))
        }
    }

    private static func perSecond(_ parts: [(unix: UInt64, count: UInt64)]) -> [MessagePack.Pair] {
        var counts: [UInt64: UInt64] = [:]
        for part in parts where part.count > 0 { counts[part.unix, default: 0] &+= part.count }
        return counts.sorted { $0.key < $1.key }.map { MessagePack.Pair(integer($0.key), integer($0.value)) }
    }

    /// One row per kind of failure, as on Locust's page.
    private func errors(_ metrics: Metrics) -> [MessagePack.Pair] {
        var rows = metrics.failures.sorted.map { failure, record in
            var text = "\(failure.phase.rawValue): \(failure.kind.rawValue)"
            if !failure.detail.isEmpty { text += ": \(failure.detail)" }
            return (text, record.count)
        }
        for status in metrics.statuses.indices where !Metrics.isSuccess(status: status) {
            let (all, expected) = (metrics.statuses[status], metrics.expectedStatuses[status, default: 0])
            if all > expected { rows.append(("HTTP status \(status)", all - expected)) }
        }
        return rows.map { text, count in
            let error = MessagePack.map([
                "name": .string(name), "method": .string(method),
                "error": .string(text), "occurrences": Self.integer(count),
                "first_seen": Self.optional(seconds.first.map { Double($0.unix) }),
                "last_seen": Self.optional(seconds.last.map { Double($0.unix) }),
            ])
            return MessagePack.Pair("\(method).\(name).\(text)", error)
        }
    }

    private static func integer(_ value: UInt64) -> MessagePack { .integer(Int64(clamping: value)) }

    private static func optional(_ value: Double?) -> MessagePack { value.map { .number($0) } ?? .null }

    /// A time in three significant digits of milliseconds or, like Locust's own workers, in whole milliseconds below
    /// 100, then tens, hundreds, thousands. A master accepts any keys.
    static func milliseconds(_ nanoseconds: UInt64, isCoarse: Bool) -> Double {
        let value = Double(nanoseconds) / 1e6
        if isCoarse {
            let unit = value < 100 ? 1.0 : value < 1_000 ? 10 : value < 10_000 ? 100 : 1_000
            return (value / unit).rounded(.toNearestOrEven) * unit
        }
        guard value > 0 else { return 0 }
        // The finest resolution is a thousandth of a millisecond.
        var scale = 1_000.0
        while scale > 0.001, value * scale >= 999.5 { scale /= 10 }
        let scaled = (value * scale).rounded()
        // Division gives 1.23 where multiplication would give 1.2300000000000002.
        return scale >= 1 ? scaled / scale : scaled * (1 / scale).rounded()
    }
}
