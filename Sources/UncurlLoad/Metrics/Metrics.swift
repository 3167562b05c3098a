/// All counts of a run: those of one worker, or of several together.
///
/// At any moment `sent = completed + failed + inFlight`: see ``isBalanced``.
package struct Metrics: Sendable {
    /// Requests whose first byte was handed to a socket.
    package var sent: UInt64 = 0
    /// Requests whose response was received to its end, whatever its status.
    package var completed: UInt64 = 0
    /// Requests that were sent and will get no whole response.
    package var failed: UInt64 = 0
    /// Requests without an outcome yet; once the run has stopped, those that were under way then.
    package var inFlight: UInt64 = 0
    /// Requests that were sent again: those that a server left without an answer when it closed a pipeline as
    /// announced; with ``RunPlan/retries``, those on a kept connection that had ended; and those for which a proxy
    /// wanted credentials. Each is in ``sent`` once.
    package var sentAgain: UInt64 = 0

    /// Responses by status code, 0 to 999.
    package var statuses = [UInt64](repeating: 0, count: 1_000)
    /// The part of ``statuses`` that is neither 2xx nor 3xx and still a success, because the run expects it.
    package var expectedStatuses: [Int: UInt64] = [:]

    /// Bytes through the sockets, and of these the message contents.
    package var wireBytesIn: UInt64 = 0
    package var bodyBytesIn: UInt64 = 0
    package var wireBytesOut: UInt64 = 0
    package var bodyBytesOut: UInt64 = 0

    /// Connections of the whole run, warm-up included, because most are opened there. In a run of handshakes: those of
    /// the measured part.
    package var connectionsOpened: UInt64 = 0
    package var connectionsFailed: UInt64 = 0
    /// In a run of handshakes: connections that were being opened or closed when the run stopped.
    package var connectionsUnfinished: UInt64 = 0
    /// Connections at rest that were closed because bytes came that no request had asked for.
    package var connectionsStray: UInt64 = 0
    /// The handshakes of the connections opened.
    package var handshakes = HandshakeLog()

    /// The time from the first byte sent to the last byte received: 2xx and 3xx, other statuses, failures.
    package var success = LatencyHistogram()
    package var httpError = LatencyHistogram()
    package var failure = LatencyHistogram()
    /// The time from `connect` to the socket being connected, of the same connections as the counts above.
    package var connect = LatencyHistogram()
    /// The time from the first byte of the TLS handshake with the server to its end.
    package var tls = LatencyHistogram()
    /// The time from the first byte sent to the first byte received, for completed requests.
    package var firstByte = LatencyHistogram()
    /// Completed requests a second, one value a worker for each tenth of a second: wrk's `Req/Sec`.
    package var rates = LatencyHistogram()

    package var failures = FailureLog()

    /// Redirections that were followed; each response on the way is in ``completed``.
    package var redirects: UInt64 = 0
    /// Answers in the measured part that do not count for its due requests: those to requests of the warm-up and to all
    /// but the first request of a visit, and redirections that were followed; each of them once.
    package var followUps: UInt64 = 0
    /// Answers after the measured part, while the run drained. Every count includes them, and no rate does.
    package var drained: UInt64 = 0
    /// The part of ``drained`` that was a success.
    package var drainedSuccesses: UInt64 = 0
    /// The part of the bytes through the sockets that was counted while the run drained.
    package var drainedBytesIn: UInt64 = 0
    package var drainedBytesOut: UInt64 = 0

    /// The counts of each name. The names are ``RunPlan/requestNames``.
    package var names: [NamedMetrics] = []

    /// The counts of a run of streams. Nil in other runs.
    package var stream: StreamMetrics?
    /// The counts of a run of WebSockets. Nil in other runs.
    package var webSocket: WebSocketMetrics?

    /// The counts of a run with a schedule. Nil in other runs.
    package var schedule: ScheduleMetrics?

    package init() {}

    /// Whether the counts add up.
    package var isBalanced: Bool { sent == completed &+ failed &+ inFlight }

    /// Responses with a 2xx or 3xx status. The report's rate counts only these, because an error can be fast.
    package var succeeded: UInt64 { success.count }
    /// Responses with any other final status.
    package var httpErrors: UInt64 { httpError.count }

    /// Returns how many requests, or connections where only these are made, were completed.
    package func done(_ work: LoadKind) -> UInt64 {
        switch work {
        case .requests: completed
        case .handshakes: connectionsOpened
        }
    }

    /// Returns what ``done(_:)`` counts, without the answers that no rate includes.
    package func doneInTime(_ work: LoadKind) -> UInt64 {
        switch work {
        case .requests: completed &- min(drained, completed)
        case .handshakes: connectionsOpened
        }
    }

    /// The bytes through the sockets that rates include.
    package var bytesInInTime: UInt64 { wireBytesIn &- min(drainedBytesIn, wireBytesIn) }
    package var bytesOutInTime: UInt64 { wireBytesOut &- min(drainedBytesOut, wireBytesOut) }

    /// The part of ``drained`` that was an HTTP error.
    package var drainedErrors: UInt64 { drained &- min(drainedSuccesses, drained) }

    /// All errors: failed requests, failed connects, and responses other than 2xx and 3xx.
    package var errors: UInt64 { failed &+ connectionsFailed &+ httpErrors }

    /// The share of the requests due in the measured part that were answered in it, whatever their status: the achieved
    /// rate divided by the wanted one. Nil without a schedule.
    package var rateRatio: Double? {
        guard let due = schedule?.due, due > 0 else { return nil }
        return (Double(completed) - Double(drained) - Double(followUps)) / Double(due)
    }

    /// Returns the times that a run of this kind is about: from the instant a request was due, where it had one.
    package func headline(_ work: LoadKind) -> LatencyHistogram {
        switch work {
        case .requests: schedule?.corrected ?? success
        case .handshakes: tls
        }
    }

    package static func isSuccess(status: Int) -> Bool { status >= 200 && status < 400 }

    /// Adds the other's counts to these, as if one worker had seen both.
    package mutating func merge(_ other: Metrics) {
        sent &+= other.sent
        completed &+= other.completed
        failed &+= other.failed
        inFlight &+= other.inFlight
        sentAgain &+= other.sentAgain
        for index in statuses.indices { statuses[index] &+= other.statuses[index] }
        expectedStatuses.merge(other.expectedStatuses) { $0 &+ $1 }
        wireBytesIn &+= other.wireBytesIn
        bodyBytesIn &+= other.bodyBytesIn
        wireBytesOut &+= other.wireBytesOut
        bodyBytesOut &+= other.bodyBytesOut
        connectionsOpened &+= other.connectionsOpened
        connectionsFailed &+= other.connectionsFailed
        connectionsUnfinished &+= other.connectionsUnfinished
        connectionsStray &+= other.connectionsStray
        handshakes.merge(other.handshakes)
        success.merge(other.success)
        httpError.merge(other.httpError)
        failure.merge(other.failure)
        connect.merge(other.connect)
        tls.merge(other.tls)
        firstByte.merge(other.firstByte)
        rates.merge(other.rates)
        failures.merge(other.failures)
        redirects &+= other.redirects
        followUps &+= other.followUps
        drained &+= other.drained
        drainedSuccesses &+= other.drainedSuccesses
        drainedBytesIn &+= other.drainedBytesIn
        drainedBytesOut &+= other.drainedBytesOut
        if names.isEmpty {
            names = other.names
        } else {
            for (index, theirs) in other.names.enumerated() where names.indices.contains(index) {
                names[index].merge(theirs)
            }
        }
        if let theirs = other.stream {
            var sum = stream ?? StreamMetrics()
            sum.merge(theirs)
            stream = sum
        }
        if let theirs = other.webSocket {
            var sum = webSocket ?? WebSocketMetrics()
            sum.merge(theirs)
            webSocket = sum
        }
        if let theirs = other.schedule { schedule = schedule.map { $0.merged(with: theirs) } ?? theirs }
    }

    /// Returns the counts of a warm-up that belong to the measured part: connections, opened and failed, and the
    /// requests under way, which count as sent. Empty where connections are measured.
    func afterWarmUp(_ work: LoadKind) -> Metrics {
        var fresh = MetricsShape(
            isScheduled: schedule != nil,
            isStream: stream != nil,
            isWebSocket: webSocket != nil,
            names: names.count
        ).make()
        switch work {
        case .handshakes: return fresh
        case .requests: break
        }
        (fresh.sent, fresh.inFlight) = (inFlight, inFlight)
        fresh.connectionsOpened = connectionsOpened
        fresh.connectionsFailed = connectionsFailed
        (fresh.connect, fresh.tls, fresh.handshakes) = (connect, tls, handshakes)
        if let open = webSocket?.open { fresh.webSocket?.open = open }
        for (failure, record) in failures.records where failure.isConnectFailure {
            fresh.failures.add(failure, count: record.count, at: record.first, example: record.example)
        }
        return fresh
    }
}

extension Metrics {
    /// One of the histograms, with its tag in logs and reports.
    package struct Series: Sendable {
        package var tag: String
        /// Whether the histogram has the times that the run is about.
        package var isMain = false
        package var histogram: LatencyHistogram

        package init(tag: String, isMain: Bool = false, histogram: LatencyHistogram) {
            (self.tag, self.isMain, self.histogram) = (tag, isMain, histogram)
        }
    }

    /// Returns all histograms of times, those that the run is about first.
    package func series(_ work: LoadKind) -> [Series] {
        let corrected = schedule.map { [Series(tag: "corrected", isMain: true, histogram: $0.corrected)] } ?? []
        let scheduled =
            schedule.map {
                [Series(tag: "wait", histogram: $0.wait), Series(tag: "lag", histogram: $0.lag)]
            } ?? []
        let streamed =
            stream.map {
                [
                    Series(tag: "event", histogram: schedule == nil ? $0.first : $0.correctedFirst),
                    Series(tag: "gap", histogram: $0.gaps),
                ]
            } ?? []
        let opened = webSocket.map { [Series(tag: "open", histogram: $0.open)] } ?? []
        return corrected + [
            Series(tag: "raw", isMain: work == .requests, histogram: success),
            Series(tag: "http-error", histogram: httpError),
            Series(tag: "failed", histogram: failure),
            Series(tag: "ttfb", histogram: firstByte),
            Series(tag: "connect", histogram: connect),
            Series(tag: "tls", isMain: work == .handshakes, histogram: tls),
        ] + streamed + opened + scheduled
    }
}
