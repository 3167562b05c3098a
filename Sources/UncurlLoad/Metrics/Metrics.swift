/// All counts of a run: those of one worker, or of several together.
///
/// At any moment `sent = completed + failed + inFlight`: see ``isBalanced``.
package struct Metrics: Sendable {
    /// The parts that the run has besides what every run has.
    package var parts: Part
    /// One place for each ``Count`` and each ``Times``, with room for more: an index costs a load and a store.
    private var counts = InlineArray<48, UInt64>(repeating: 0)
    private var histograms = InlineArray<16, LatencyHistogram>(repeating: LatencyHistogram())

    package var statuses = [UInt64](repeating: 0, count: 1_000)
    /// The part of ``statuses`` that is neither 2xx nor 3xx and still a success, because the run expects it.
    package var expectedStatuses: [Int: UInt64] = [:]
    package var handshakes = HandshakeLog()
    package var failures = FailureLog()
    /// The counts of each name. The names are ``RunPlan/requestNames``.
    package var names: [NamedMetrics]

    package init(_ parts: Part = .run, names: Int = 0) {
        self.parts = parts
        self.names = (0..<names).map { _ in NamedMetrics() }
    }

    package func emptied() -> Metrics { Metrics(parts, names: names.count) }

    package subscript(_ count: Count) -> UInt64 {
        @inline(__always) get { counts[count.rawValue] }
        @inline(__always) set { counts[count.rawValue] = newValue }
    }

    package subscript(_ times: Times) -> LatencyHistogram {
        @inline(__always) get { histograms[times.rawValue] }
        @inline(__always) _modify { yield &histograms[times.rawValue] }
    }

    /// Whether the run has this part.
    @inline(__always)
    package func has(_ part: Part) -> Bool { parts.contains(part) }

    package var isBalanced: Bool { self[.sent] == self[.completed] &+ self[.failed] &+ self[.inFlight] }

    /// Responses with a 2xx or 3xx status. The report's rate counts only these, because an error can be fast.
    package var succeeded: UInt64 { self[.success].count }
    /// Responses with any other final status.
    package var httpErrors: UInt64 { self[.httpError].count }
    package var successesInTime: UInt64 { succeeded &- min(self[.drainedSuccesses], succeeded) }

    /// Returns how many requests, or connections where only these are made, were completed.
    package func done(_ work: LoadKind) -> UInt64 {
        work == .requests ? self[.completed] : self[.connectionsOpened]
    }

    /// Returns what ``done(_:)`` counts, without the answers that no rate includes.
    package func doneInTime(_ work: LoadKind) -> UInt64 {
        work == .requests ? rest(.completed, without: .drained) : self[.connectionsOpened]
    }

    package func rest(_ count: Count, without part: Count) -> UInt64 { self[count] &- min(self[part], self[count]) }

    package var drainedErrors: UInt64 { rest(.drained, without: .drainedSuccesses) }

    package var errors: UInt64 { self[.failed] &+ self[.connectionsFailed] &+ httpErrors }

    /// Answered messages per WebSocket that could carry those of the measured part; nil without one.
    package var messagesOfSocket: Double? {
        let used = self[.socketsOpened] &+ self[.socketsKept]
        return used == 0 ? nil : Double(self[.completed]) / Double(used)
    }

    /// Of the requests that came due, those whose first byte was sent.
    package var dueSent: UInt64 { self[.wait].count }
    /// Whether every request that came due was sent, refused or left unsent. True once the run has ended.
    package var isScheduleBalanced: Bool { self[.due] == dueSent &+ self[.refused] &+ self[.unsent] }

    /// The share of the requests due in the measured part that were answered in it, whatever their status: the achieved
    /// rate divided by the wanted one. Nil without a schedule.
    package var rateRatio: Double? {
        guard has(.schedule), self[.due] > 0 else { return nil }
        return (Double(self[.completed]) - Double(self[.drained]) - Double(self[.followUps])) / Double(self[.due])
    }

    /// The time since requests were due, where they were due at an instant; otherwise since their first byte was sent.
    package var latency: LatencyHistogram { has(.schedule) ? self[.corrected] : self[.success] }

    /// Returns the times that a run of this kind is about: from the instant a request was due, where it had one.
    package func headline(_ work: LoadKind) -> LatencyHistogram {
        work == .requests ? latency : self[.tls]
    }

    package var seenStatuses: [(code: Int, count: UInt64)] {
        statuses.indices.filter { statuses[$0] > 0 }.map { ($0, statuses[$0]) }
    }

    package static func isSuccess(status: Int) -> Bool { status >= 200 && status < 400 }

    /// Adds the other's counts to these, as if one worker had seen both.
    package mutating func merge(_ other: Metrics) {
        parts.formUnion(other.parts)
        for index in counts.indices { counts[index] &+= other.counts[index] }
        for index in histograms.indices { histograms[index].merge(other.histograms[index]) }
        for index in statuses.indices { statuses[index] &+= other.statuses[index] }
        expectedStatuses.merge(other.expectedStatuses) { $0 &+ $1 }
        handshakes.merge(other.handshakes)
        failures.merge(other.failures)
        if names.isEmpty {
            names = other.names
        } else {
            for (index, theirs) in other.names.enumerated() where names.indices.contains(index) {
                names[index].merge(theirs)
            }
        }
    }

    /// Returns the counts of a warm-up that belong to the measured part: connections, opened and failed, and the
    /// requests under way, which count as sent. Empty where connections are measured.
    func afterWarmUp(_ work: LoadKind) -> Metrics {
        var fresh = emptied()
        guard work == .requests else { return fresh }
        for count in [Count.inFlight, .connectionsOpened, .connectionsFailed] { fresh[count] = self[count] }
        fresh[.sent] = self[.inFlight]
        for times in [Times.connect, .tls, .open] { fresh[times].merge(self[times]) }
        fresh.handshakes = handshakes
        for (failure, record) in failures.records where failure.isConnectFailure {
            fresh.failures.add(failure, count: record.count, at: record.first, example: record.example)
        }
        return fresh
    }
}

package struct NamedMetrics: Sendable {
    package var completed: UInt64 = 0
    /// Of these, those with a 2xx or 3xx status.
    package var succeeded: UInt64 = 0
    /// Requests that were sent and failed, or got no connection.
    package var failed: UInt64 = 0
    /// Whole responses after the measured part, which no rate includes.
    package var drained: UInt64 = 0
    /// The bytes of the contents that were received.
    package var bodyBytesIn: UInt64 = 0
    /// The times that the run is about: corrected by a schedule, raw otherwise.
    package var latency = LatencyHistogram()

    package init() {}

    static let counts: [(name: String, count: any WritableKeyPath<NamedMetrics, UInt64> & Sendable)] = [
        ("completed", \.completed), ("succeeded", \.succeeded), ("failed", \.failed), ("drained", \.drained),
        ("body_in", \.bodyBytesIn),
    ]

    package var httpErrors: UInt64 { completed &- succeeded }
    package var errors: UInt64 { failed &+ httpErrors }
    /// All requests of the name that ended, with success or without.
    package var ended: UInt64 { completed &+ failed }

    package mutating func merge(_ other: NamedMetrics) {
        for (_, count) in Self.counts { self[keyPath: count] &+= other[keyPath: count] }
        latency.merge(other.latency)
    }
}

package enum LoadKind: String, Hashable, Sendable {
    case requests
    /// Each connection is opened, TLS included, and closed again.
    case handshakes

    package var unit: String { self == .requests ? "requests/s" : "connections/s" }
}
