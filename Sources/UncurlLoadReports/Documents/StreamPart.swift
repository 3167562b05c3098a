import UncurlLoad
import UncurlText

/// The part of the reports about a run of streams.
enum StreamPart {
    /// The part; null where answers are not streams.
    static func json(_ result: RunResult) -> JSONTree {
        guard let stream = result.metrics.stream, let options = result.plan.stream else { return .null }
        return .object([
            ("kind", .string(options.kind.rawValue)),
            ("events", .integer(stream.events)),
            ("events_drained", .integer(stream.drainedEvents)),
            ("events_per_second", .number(result.perSecond(stream.eventsInTime))),
            ("stalls", .integer(stream.stalls)),
            ("stall_ns", .integer(options.stall)),
            ("silent", .integer(stream.silent)),
            ("first_event", stream.first.json),
            ("first_event_corrected", stream.correctedFirst.json),
            ("gap", stream.gaps.json),
        ])
    }
}
