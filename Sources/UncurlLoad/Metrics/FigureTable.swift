/// The parts of the figures that only some runs have.
package struct Part: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let run: Part = []
    /// The figures of a run with a schedule: requests by when they were due.
    ///
    /// Once the run has ended, every request that came due was sent, refused or left unsent.
    package static let schedule = Part(rawValue: 1)
    /// The figures of a run of streams: the events in its answers.
    package static let stream = Part(rawValue: 2)
    /// The figures of a run of WebSockets, whose requests are messages.
    package static let webSocket = Part(rawValue: 4)
}

/// What a run counts. Each case has its row in ``Figure/all``, which is all that reports know of it.
package enum Count: Int, CaseIterable, Sendable {
    /// Requests whose first byte was handed to a socket.
    case sent
    /// Requests whose response was received to its end, whatever its status.
    case completed
    /// Requests that were sent and will get no whole response.
    case failed
    /// Requests without an outcome yet; once the run has stopped, those that were under way then.
    case inFlight
    /// Requests that were sent again: those that a server left without an answer when it closed a pipeline as
    /// announced; with `--retry`, those on a kept connection that had ended; and those for which a proxy
    /// wanted credentials. Each is in ``sent`` once.
    case sentAgain

    /// Bytes through the sockets, and of these the message contents.
    case wireBytesIn, bodyBytesIn, wireBytesOut, bodyBytesOut

    /// Connections of the whole run, warm-up included, because most are opened there. In a run of handshakes: those of
    /// the measured part.
    case connectionsOpened
    case connectionsFailed
    /// In a run of handshakes: connections that were being opened or closed when the run stopped.
    case connectionsUnfinished
    /// Connections at rest that were closed because bytes came that no request had asked for.
    case connectionsStray

    /// Redirections that were followed; each response on the way is in ``completed``.
    case redirects
    /// Answers in the measured part that do not count for its due requests: those to requests of the warm-up and to all
    /// but the first request of a visit, and redirections that were followed; each of them once.
    case followUps
    /// Answers after the measured part, while the run drained. Every count includes them, and no rate does.
    case drained
    /// The part of ``drained`` that was a success.
    case drainedSuccesses
    /// The part of the bytes through the sockets that was counted while the run drained.
    case drainedBytesIn, drainedBytesOut

    /// Requests whose instant came within the measured part.
    case due
    /// Of these, those that got no connection until the end, drain included.
    case unsent
    /// Of these, those whose connection could not be opened.
    case refused
    /// Of these, those that found every connection busy, or none open yet, and had to wait.
    case delayed

    case events
    /// The part of ``events`` that came while the run drained, which no rate includes.
    case drainedEvents
    /// Gaps longer than ``StreamOptions``' stall, including those that the run's end cut short.
    case stalls
    /// Answers that ended, or were in progress at the end, without any event.
    case silent

    /// WebSockets that were opened in the measured part.
    case socketsOpened
    /// WebSockets that were open when the warm-up ended.
    case socketsKept
    /// WebSockets that the server ended, or that were lost, while no answer was awaited.
    case socketsDropped
    /// Messages that came while no answer was awaited.
    case pushed
}

/// The times that a run records, in the order of the tables for people. Each case has its row in ``Figure/all``.
package enum Times: Int, CaseIterable, Sendable {
    /// From the instant a request was due to the last byte of its response: the time that a user would have waited,
    /// whatever its cause. It has successes; and requests that timed out, were in flight at the end, or were never
    /// sent, with the time that they had waited so far. That time is too short, but without these requests the slowest
    /// would be missing.
    case corrected
    /// The same without ``lag``: the figures if volley had been on time.
    case unlagged
    /// The time from the first byte sent to the last byte received: 2xx and 3xx, other statuses, failures.
    case success, httpError, failure
    /// The time from the first byte sent to the first byte received, for completed requests.
    case firstByte
    /// The time from `connect` to the socket being connected, of the connections that are counted.
    case connect
    /// The time from the first byte of the TLS handshake with the server to its end.
    case tls
    /// Completed requests a second, one value a worker for each tenth of a second: wrk's `Req/Sec`.
    case rates
    /// The time from the instant a request was due to its first byte sent: lag, the wait for a connection, a connect.
    case wait
    /// From the instant a request was due to the instant volley noticed it. This is volley's own lateness; the wait for
    /// a connection is not part of it.
    case lag
    /// The time from the instant a request was due to the first event, or to the run's end where none came.
    case correctedFirstEvent
    /// The time from a request's first byte sent to the first event.
    case firstEvent
    /// The time between an event and the next of its stream: zero where they came together.
    case gaps
    /// From the start of a connection to the end of its opening handshake; of the whole run, as most are opened in the
    /// warm-up.
    case open
}

/// The rows of every figure, section by section, in the order of a JSON report.
extension Figure {
    package static let all: [Figure] =
        judged + requests + late + rate + bytes + connections + latency + schedule + stream + webSocket + intervals

    /// What conditions alone know.
    private static let judged: [Figure] = [
        Figure(.none, "errors", .ratio { $0.ended == 0 ? nil : Double($0.metrics.errors) / Double($0.ended) })
            .with(\.condition, "errors").with(\.isCompared, true)
            .with(\.named, { $0.ended == 0 ? nil : Double($0.errors) / Double($0.ended) }),
        Figure(
            .none,
            "rps",
            .perSecond { $0.work == .handshakes ? $0.metrics[.connectionsOpened] : $0.metrics.successesInTime }
        )
        .with(\.condition, "rps"),
        Figure(.none, "completed_rps", .perSecond { $0.metrics.doneInTime($0.work) })
            .with(\.condition, "completed_rps"),
        Figure(.none, "rate_ratio", .ratio { $0.metrics.rateRatio }).with(\.condition, "rate_ratio"),
        Figure(.none, "completed", .whole { $0.metrics.done($0.work) })
            .with(\.condition, "completed").with(\.named, { Double($0.completed) }),
        Figure(.none, "failed", .whole { $0.metrics[.failed] &+ $0.metrics[.connectionsFailed] })
            .with(\.condition, "failed").with(\.named, { Double($0.failed) }).with(\.isCompared, true),
        Figure(.none, "rates", .times(.rates)),
    ]

    /// What conditions alone know, behind the requests' own. Without a schedule the count is zero, and not a figure
    /// that is missing.
    private static let late: [Figure] = [
        Figure(.none, "unsent", .whole { $0.metrics[.unsent] })
            .with(\.condition, "unsent").with(\.isCompared, true).with(\.whole, "due")
    ]

    private static let outcomes = "Requests by outcome: success is 2xx and 3xx."

    private static let requests: [Figure] = [
        Figure(.requests, "sent", .count(.sent), "completed + failed + in_flight_at_stop.").with(\.page, "sent"),
        Figure(.requests, "completed", .count(.completed)).with(\.page, "completed"),
        Figure(.requests, "failed", .count(.failed)).with(\.page, "failed")
            .exported("volley_requests", outcomes, ("outcome", "failed")),
        Figure(.requests, "in_flight_at_stop", .count(.inFlight)).with(\.tag, "in_flight")
            .with(\.page, "in flight at stop"),
        Figure(.requests, "balanced", .flag { $0.metrics.isBalanced }, "Whether the sum above holds."),
        Figure(.requests, "succeeded", .whole { $0.metrics.succeeded }, "Completed with a 2xx or 3xx status.")
            .exported("volley_requests", outcomes, ("outcome", "success")).with(\.dotted, "volley.requests"),
        Figure(.requests, "http_errors", .whole { $0.metrics.httpErrors }, "Completed with another status.")
            .exported("volley_requests", outcomes, ("outcome", "http_error"))
            .with(\.condition, "http_errors").with(\.named, { Double($0.httpErrors) }).with(\.isCompared, true),
        Figure(.requests, "sent_again", .count(.sentAgain)).with(\.page, "sent again")
            .with(
                \.help,
                "Requests that --retry, a close on a pipeline or a proxy had sent again; each counts once in sent."
            )
            .exported(
                "volley_sent_again",
                "Requests sent a second time, each counted once in volley_requests_total."
            )
            .with(\.condition, "sent_again").with(\.isCompared, true).with(\.whole, "sent")
            .with(\.remark, ("Sent again", ", each of them one of those sent")),
        Figure(.requests, "redirects", .count(.redirects), "Followed redirects; each is a request too."),
        Figure(.requests, "follow_ups", .count(.followUps))
            .with(
                \.help,
                """
                Answers in the measured part that do not count for its due requests: those to requests of the warm-up \
                and to all but the first request of each visit, and redirections that were followed.
                """
            ),
        Figure(.requests, "drained", .count(.drained), "Completed after the measured part, and part of no rate."),
        Figure(.requests, "drained_succeeded", .count(.drainedSuccesses), "Drained with a 2xx or 3xx status.")
            .with(\.tag, "drained_successes"),
    ]

    private static let rate: [Figure] = [
        Figure(.rate, "successes_per_second", .perSecond { $0.metrics.successesInTime }),
        Figure(.rate, "completed_per_second", .perSecond { $0.metrics.doneInTime(.requests) }),
        Figure(.rate, "connections_per_second", .perSecond { $0.work == .handshakes ? $0.metrics.done($0.work) : nil })
            .with(\.help, "The rate of connections, if the run measures connections; null otherwise.")
            .with(\.isOptional, true).with(\.isUnbounded, true),
        Figure(.rate, "bytes_in_per_second", .perSecond { $0.metrics.rest(.wireBytesIn, without: .drainedBytesIn) }),
        Figure(.rate, "bytes_out_per_second", .perSecond { $0.metrics.rest(.wireBytesOut, without: .drainedBytesOut) }),
    ]

    private static let inNoRate = "Those of answers after the measured part: in no rate."
    private static let through = "Bytes through the sockets."

    private static let bytes: [Figure] = [
        Figure(.bytes, "in", .count(.wireBytesIn)).with(\.tag, "wire_in").with(\.page, "bytes in")
            .exported("volley_bytes", through, ("direction", "in")).with(\.dotted, "volley.io").with(\.unit, "By"),
        Figure(.bytes, "in_content", .count(.bodyBytesIn)).with(\.tag, "body_in"),
        Figure(.bytes, "in_drained", .count(.drainedBytesIn), inNoRate).with(\.tag, "drained_in"),
        Figure(.bytes, "out", .count(.wireBytesOut)).with(\.tag, "wire_out").with(\.page, "bytes out")
            .exported("volley_bytes", through, ("direction", "out")),
        Figure(.bytes, "out_content", .count(.bodyBytesOut)).with(\.tag, "body_out"),
        Figure(.bytes, "out_drained", .count(.drainedBytesOut), inNoRate).with(\.tag, "drained_out"),
    ]

    private static let connections: [Figure] = [
        Figure(.connections, "opened", .count(.connectionsOpened)).with(\.page, "connections opened")
            .exported("volley_connections", "Connections by outcome.", ("outcome", "opened"))
            .with(\.dotted, "volley.connections").with(\.unit, "{connection}"),
        Figure(.connections, "failed", .count(.connectionsFailed)).with(\.tag, "refused")
            .exported("volley_connections", "Connections by outcome.", ("outcome", "failed")),
        Figure(.connections, "in_flight_at_stop", .count(.connectionsUnfinished)).with(\.tag, "unfinished")
            .with(\.help, "Unfinished connections in a run of handshakes; otherwise 0."),
        Figure(.connections, "stray", .count(.connectionsStray))
            .with(\.help, "Connections closed at rest because unexpected bytes came, in the measured part."),
    ]

    private static let latency: [Figure] = [
        Figure(.latency, "raw", .times(.success), "Successes, from the first byte sent.").with(\.tag, "success")
            .with(\.series, "raw").with(\.title, "raw"),
        Figure(.latency, "http_error", .times(.httpError)).with(\.title, "HTTP error")
            .with(\.series, "http-error").with(\.isInConditions, false),
        Figure(.latency, "failed", .times(.failure)).with(\.tag, "failure").with(\.title, "failed")
            .with(\.series, "failed").with(\.isInConditions, false),
        Figure(.latency, "first_byte", .times(.firstByte)).with(\.series, "ttfb").with(\.title, "first byte"),
        Figure(.latency, "connect", .times(.connect)).with(\.series, "connect").with(\.title, "connect"),
        Figure(.latency, "tls", .times(.tls)).with(\.series, "tls").with(\.title, "TLS"),
    ]

    private static let schedule: [Figure] = [
        Figure(
            .schedule,
            "stages",
            .other(
                """
                {"type": "array", "items": {"type": "object", "additionalProperties": false, \
                "required": ["duration_ns", "from_per_second", "to_per_second"], \
                "properties": {"duration_ns": {"type": "integer", "minimum": 0}, \
                "from_per_second": {"type": "number", "minimum": 0}, "to_per_second": {"type": "number", "minimum": 0}}}}
                """
            )
        ),
        Figure(.schedule, "wanted_per_second", .perSecond { $0.metrics[.due] }, "Requests due in the measured part."),
        Figure(.schedule, "rate_ratio", .ratio { $0.metrics.rateRatio })
            .with(\.help, "The share of due requests that were answered, in the measured part; null if none was due.")
            .with(\.isOptional, true).with(\.isUnbounded, true),
        Figure(.schedule, "due", .count(.due), "Requests that came due.").exported("volley_due"),
        Figure(.schedule, "sent", .whole { $0.metrics.dueSent })
            .with(\.help, "Due requests that were begun: due is sent + refused + unsent."),
        Figure(.schedule, "refused", .count(.refused), "Due requests that got no connection.")
            .exported("volley_refused"),
        Figure(.schedule, "unsent", .count(.unsent), "Due requests that were never sent.").exported("volley_unsent"),
        Figure(.schedule, "delayed", .count(.delayed), "Due requests that had to wait for a free connection.")
            .exported("volley_delayed"),
        Figure(.schedule, "corrected", .times(.corrected)).with(\.series, "corrected").with(\.title, "corrected")
            .with(
                \.help,
                "From the due time to the end of the response; one without a response counts with its age."
            ),
        Figure(.schedule, "without_lag", .times(.unlagged), "The same without lag, as if volley had been on time.")
            .with(\.tag, "unlagged"),
        Figure(.schedule, "lag", .times(.lag)).with(\.series, "lag").with(\.page, "send lag")
            .with(\.help, "From the due time to when volley noticed it: volley's own lateness.")
            .exported("volley_send_lag_seconds", "Time from when a request was due to when volley noticed it."),
        Figure(.schedule, "wait", .times(.wait), "From the due time to the first byte sent.")
            .with(\.series, "wait").with(\.page, "wait")
            .exported("volley_send_wait_seconds", "Time from when a request was due to its first byte sent."),
        Figure(
            .schedule,
            "generator_limits",
            .other(.described("Why volley was the limit; empty if it was not.", .texts))
        ),
    ]

    private static let stream: [Figure] = [
        Figure(.stream, "kind", .other(#"{"enum": ["sse", "ndjson", "bytes"]}"#)),
        Figure(.stream, "events", .count(.events)).with(\.condition, "events")
            .exported("volley_events", "Events of streams."),
        Figure(.stream, "events_drained", .count(.drainedEvents), "Those after the measured part: in no rate.")
            .with(\.tag, "drained_events"),
        Figure(.stream, "events_per_second", .perSecond { $0.metrics.rest(.events, without: .drainedEvents) })
            .with(\.condition, "events_rps"),
        Figure(.stream, "stalls", .count(.stalls), "Gaps of more than stall_ns.").with(\.condition, "stalls")
            .exported("volley_stalls", "Gaps between events that were stalls."),
        Figure(.stream, "stall_ns", .other(.whole)),
        Figure(.stream, "silent", .count(.silent), "Streams without an event.").exported("volley_silent_streams")
            .with(\.unit, "{stream}"),
        Figure(.stream, "first_event", .times(.firstEvent), "From the first byte sent.").with(\.tag, "first")
            .with(\.series, "event").with(\.title, "first event")
            .exported("volley_first_event_seconds", "Time to a stream's first event."),
        Figure(.stream, "first_event_corrected", .times(.correctedFirstEvent), "From when the request was due.")
            .with(\.tag, "corrected").with(\.series, "event").with(\.needs, .schedule)
            .with(\.title, "due–event").with(\.page, "due to first event")
            .exported(
                "volley_first_event_corrected_seconds",
                "Time from when a request was due to its stream's first event."
            ),
        Figure(.stream, "gap", .times(.gaps), "Between two events of a stream.").with(\.tag, "gaps")
            .with(\.series, "gap").with(\.title, "gap")
            .exported("volley_event_gap_seconds", "Time between two events of a stream."),
    ]

    private static let webSocket: [Figure] = [
        Figure(.websocket, "message_bytes", .other(.whole)),
        Figure(.websocket, "binary", .other(.flag)),
        Figure(.websocket, "opened", .count(.socketsOpened), "Opened in the measured part.")
            .with(\.condition, "opened").with(\.page, "WebSockets opened")
            .exported("volley_websockets", "WebSockets opened.").with(\.unit, "{websocket}"),
        Figure(.websocket, "kept", .count(.socketsKept), "Open when the warm-up ended."),
        Figure(.websocket, "opened_per_second", .perSecond { $0.metrics[.socketsOpened] })
            .with(\.condition, "opened_rps"),
        Figure(.websocket, "messages_per_connection", .ratio { $0.metrics.messagesOfSocket })
            .with(\.help, "Answered messages per connection of the measured part.").with(\.isOptional, true),
        Figure(.websocket, "dropped", .count(.socketsDropped)).with(\.condition, "dropped")
            .with(\.help, "Connections that the server ended while no answer was awaited.")
            .with(\.page, "ended by the server at rest")
            .exported("volley_websockets_dropped", "WebSockets that the server ended at rest.")
            .with(\.unit, "{websocket}"),
        Figure(.websocket, "pushed", .count(.pushed), "Messages that came while no answer was awaited.")
            .with(\.condition, "pushed").with(\.page, "messages that answered none")
            .exported("volley_websocket_messages_pushed").with(\.unit, "{message}"),
        Figure(.websocket, "open", .times(.open)).with(\.series, "open")
            .with(\.help, "From the start of a connection to the end of its handshake.")
            .with(\.title, "open").with(\.page, "open (WebSocket)")
            .exported("volley_websocket_open_seconds", "Time to open a WebSocket."),
    ]

    private static let intervals: [Figure] = [
        Figure(.intervals, "start_ns", .other(.described("Since the start of the measured part.", .whole))),
        Figure(.intervals, "end_ns", .other(.whole)),
        Figure(.intervals, "completed", .whole { $0.metrics.done($0.work) })
            .with(\.help, "Completed requests, or opened connections.")
            .with(\.isColumn, true).with(\.named, { Double($0.completed) }),
        Figure(.intervals, "successes", .whole { $0.metrics.succeeded })
            .with(\.isColumn, true).with(\.named, { Double($0.succeeded) }),
        Figure(.intervals, "http_errors", .whole { $0.metrics.httpErrors })
            .with(\.isColumn, true).with(\.named, { Double($0.httpErrors) }),
        Figure(.intervals, "failed", .count(.failed)).with(\.isColumn, true).with(\.named, { Double($0.failed) }),
        Figure(.intervals, "connects_failed", .count(.connectionsFailed)).with(\.isColumn, true),
        Figure(.intervals, "sent_again", .count(.sentAgain)).with(\.isColumn, true),
        Figure(.intervals, "per_second", .perSecond { $0.metrics.doneInTime($0.work) })
            .with(\.isMember, false).with(\.isColumn, true)
            .with(\.named, { Double($0.completed &- min($0.drained, $0.completed)) }),
        Figure(.intervals, "bytes_in", .count(.wireBytesIn)).with(\.isColumn, true),
        Figure(.intervals, "bytes_out", .count(.wireBytesOut)).with(\.isMember, false).with(\.isColumn, true),
        Figure(.intervals, "connections_opened", .count(.connectionsOpened))
            .with(\.isMember, false).with(\.isColumn, true),
        Figure(.intervals, "drained", .count(.drained), "Of the completed, those after the measured part: in no rate."),
        Figure(.intervals, "drained_succeeded", .count(.drainedSuccesses), "Drained with a 2xx or 3xx status."),
        Figure(.intervals, "due", .whole { $0.metrics.has(.schedule) ? $0.metrics[.due] : nil })
            .with(\.help, "Requests due by the schedule; null without one.").with(\.isOptional, true),
        Figure(
            .intervals,
            "stolen_ns",
            .other(
                """
                {"description": "The processor time that the host took from this virtual machine; null where it is not \
                known.", "type": ["integer", "null"], "minimum": 0}
                """
            )
        ),
        Figure(
            .intervals,
            "statuses",
            .other(
                """
                {"description": "Responses by status code.", "type": "object", \
                "additionalProperties": {"type": "integer", "minimum": 0}}
                """
            )
        ),
        Figure(
            .intervals,
            "latency",
            .other(.described("The times that the run measures: corrected, raw or tls.", .definition("histogram")))
        ),
    ]
}
