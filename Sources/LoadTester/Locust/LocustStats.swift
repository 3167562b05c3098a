/// What happened since the last report, in the words of Locust's `stats`. Times are milliseconds there.
struct LocustStats: Sendable {
    var name: String
    var method: String
    /// How finely response times are counted.
    var grain: LocustGrain
    /// The tally of each whole second since 1970.
    private(set) var seconds: [(unix: UInt64, tally: Tally)] = []

    init(name: String, method: String, grain: LocustGrain) {
        (self.name, self.method, self.grain) = (name, method, grain)
    }

    var isEmpty: Bool { seconds.isEmpty }

    mutating func add(_ tally: Tally, unix: UInt64) { seconds.append((unix, tally)) }

    /// - Parameter users: those this worker has at the moment.
    func data(of order: LocustOrder, users: Int) -> MessagePack {
        let tally = seconds.reduce(into: Tally()) { $0.merge($1.tally) }
        let entry = { (name: String, method: String) in self.entry(tally, name: name, method: method) }
        return .map([
            MessagePack.Pair("stats", .array(Self.requests(tally) == 0 ? [] : [entry(name, method)])),
            MessagePack.Pair("stats_total", entry("Aggregated", "")),
            MessagePack.Pair("errors", .map(errors(tally))),
            MessagePack.Pair("user_classes_count", users == 0 ? .map([]) : order.classCounts),
            MessagePack.Pair("user_count", .integer(Int64(users))),
        ])
    }

    /// Failures are requests too, with Locust; so is an attempt that got no connection.
    private static func requests(_ tally: Tally) -> UInt64 {
        tally.completed &+ tally.failed &+ tally.connectionsFailed
    }

    private static func failures(_ tally: Tally) -> UInt64 {
        tally.failed &+ tally.connectionsFailed &+ tally.httpErrors
    }

    private func entry(_ tally: Tally, name: String, method: String) -> MessagePack {
        var times = tally.success
        times.merge(tally.httpError)
        times.merge(tally.failure)
        let latest = seconds.last.map { Double($0.unix) }
        let earliest = seconds.first.map { Double($0.unix) }
        return .map([
            MessagePack.Pair("name", .string(name)),
            MessagePack.Pair("method", .string(method)),
            MessagePack.Pair("last_request_timestamp", Self.requests(tally) == 0 ? .null : Self.optional(latest)),
            MessagePack.Pair("start_time", .number(earliest ?? 0)),
            MessagePack.Pair("num_requests", Self.integer(Self.requests(tally))),
            // Without a connection there was no time to take.
            MessagePack.Pair("num_none_requests", Self.integer(tally.connectionsFailed)),
            MessagePack.Pair("num_failures", Self.integer(Self.failures(tally))),
            MessagePack.Pair("total_response_time", .number(Double(times.sum) / 1e6)),
            MessagePack.Pair("max_response_time", .number(Double(times.maximum ?? 0) / 1e6)),
            // Null, not 0: the master keeps the least of all it hears.
            MessagePack.Pair("min_response_time", Self.optional(times.minimum.map { Double($0) / 1e6 })),
            MessagePack.Pair("total_content_length", Self.integer(tally.bodyBytesIn)),
            MessagePack.Pair("response_times", .map(buckets(times))),
            MessagePack.Pair("num_reqs_per_sec", .map(perSecond(Self.requests))),
            MessagePack.Pair("num_fail_per_sec", .map(perSecond(Self.failures))),
        ])
    }

    private func buckets(_ times: LatencyHistogram) -> [MessagePack.Pair] {
        var counts: [Double: UInt64] = [:]
        times.forEachRecorded { value, count in counts[grain.milliseconds(value), default: 0] &+= count }
        return counts.sorted { $0.key < $1.key }.map {
            // Whole ones as integers: a dashboard that sorts keys as text has seen no others.
            let key: MessagePack = $0.key == $0.key.rounded() ? .integer(Int64($0.key)) : .number($0.key)
            return MessagePack.Pair(key, Self.integer($0.value))
        }
    }

    private func perSecond(_ count: (Tally) -> UInt64) -> [MessagePack.Pair] {
        var counts: [UInt64: UInt64] = [:]
        for second in seconds where count(second.tally) > 0 { counts[second.unix, default: 0] &+= count(second.tally) }
        return counts.sorted { $0.key < $1.key }.map { MessagePack.Pair(Self.integer($0.key), Self.integer($0.value)) }
    }

    /// One row a kind of failure, as on Locust's page.
    private func errors(_ tally: Tally) -> [MessagePack.Pair] {
        var rows = tally.failures.sorted.map { failure, record in
            var text = "\(failure.phase.rawValue): \(failure.kind.rawValue)"
            if !failure.detail.isEmpty { text += ": \(failure.detail)" }
            return (text, record.count)
        }
        for status in tally.statuses.indices where !Tally.isSuccess(status: status) && tally.statuses[status] > 0 {
            rows.append(("HTTP status \(status)", tally.statuses[status]))
        }
        return rows.map { text, count in
            let error = MessagePack.map([
                MessagePack.Pair("name", .string(name)), MessagePack.Pair("method", .string(method)),
                MessagePack.Pair("error", .string(text)), MessagePack.Pair("occurrences", Self.integer(count)),
                MessagePack.Pair("first_seen", Self.optional(seconds.first.map { Double($0.unix) })),
                MessagePack.Pair("last_seen", Self.optional(seconds.last.map { Double($0.unix) })),
            ])
            return MessagePack.Pair("\(method).\(name).\(text)", error)
        }
    }

    private static func integer(_ value: UInt64) -> MessagePack { .integer(Int64(clamping: value)) }

    private static func optional(_ value: Double?) -> MessagePack { value.map { .number($0) } ?? .null }
}

/// How finely response times are told to a master, which takes any keys it is given.
enum LocustGrain: Hashable, Sendable {
    /// Three significant digits of milliseconds.
    case fine
    /// As Locust's own workers: whole milliseconds below 100, then tens, hundreds, thousands.
    case coarse

    func milliseconds(_ nanoseconds: UInt64) -> Double {
        let value = Double(nanoseconds) / 1e6
        switch self {
        case .coarse:
            let unit = value < 100 ? 1.0 : value < 1_000 ? 10 : value < 10_000 ? 100 : 1_000
            return (value / unit).rounded(.toNearestOrEven) * unit
        case .fine:
            guard value > 0 else { return 0 }
            // A thousandth of a millisecond is as fine as it gets.
            var scale = 1_000.0
            while scale > 0.001, value * scale >= 999.5 { scale /= 10 }
            let scaled = (value * scale).rounded()
            // Divided where the scale is above one: 1.23, not 1.2300000000000002.
            return scale >= 1 ? scaled / scale : scaled * (1 / scale).rounded()
        }
    }
}
