import LoadGenerator
import Reactor
import TextCoding

/// A line between the process that leads a run and one that makes a part of it: an object of JSON, whose first member
/// names the message.
enum PartMessage: Sendable {
    // From the lead.
    /// Get ready for this command line's part, and tell what was counted after so many nanoseconds each. With a rate,
    /// the run has that, and not the command line's.
    case run(arguments: [String], shard: String, interval: UInt64, rate: Rate?)
    /// What time is it?
    case clock
    /// Milliseconds since 1970, by the part's clock.
    case start(at: UInt64)
    /// End the run, and tell what there was.
    case stop
    // From the part.
    case ready(version: String, threads: Int)
    /// The run cannot be made, for this reason.
    case refused(String)
    /// Nanoseconds since 1970.
    case time(UInt64)
    /// What one thread has counted since it last told.
    case interval(IntervalPart)
    /// What is left at one thread's end.
    case result(worker: Int, WorkerResult)
    /// For the report.
    case note(String)
    /// Everything was told.
    case end

    var line: String { tree.line() + "\n" }

    private var tree: JSONTree {
        switch self {
        case .run(let arguments, let shard, let interval, let rate):
            .object([
                ("run", .array(arguments.map { .string($0) })), ("shard", .string(shard)),
                ("interval", .integer(interval)), ("rate", rate.map { .integer($0.units) } ?? .null),
            ])
        case .clock: .object([("clock", .null)])
        case .start(let time): .object([("start", .integer(time))])
        case .stop: .object([("stop", .null)])
        case .ready(let version, let threads):
            .object([("ready", .string(version)), ("threads", .integer(UInt64(threads)))])
        case .refused(let reason): .object([("refused", .string(reason))])
        case .time(let time): .object([("time", .integer(time))])
        case .interval(let part):
            .object([
                ("interval", .integer(UInt64(part.worker))), ("warm_up", .bool(part.isWarmUp)),
                ("first", .integer(part.first)), ("next", .integer(part.next)), ("end", .integer(part.end)),
                ("metrics", MetricsCodec.encode(part.metrics)),
            ])
        case .result(let worker, let result):
            .object([
                ("result", .integer(UInt64(worker))), ("connections", .integer(UInt64(result.connections))),
                ("start", .integer(UInt64(clamping: result.start.nanoseconds))),
                ("end", .integer(UInt64(clamping: result.end.nanoseconds))),
                ("used", .integer(result.core.used)), ("queued", .integer(result.core.queued)),
                ("metrics", MetricsCodec.encode(result.metrics)),
            ])
        case .note(let text): .object([("note", .string(text))])
        case .end: .object([("end", .null)])
        }
    }

    /// nil: this is no message.
    init?(_ bytes: [UInt8]) {
        guard let tree = try? JSONReader.read(bytes), case .object(let members) = tree, let first = members.first else {
            return nil
        }
        let number = { (name: String) in tree[name]?.integer ?? 0 }
        switch (first.0, first.1) {
        case ("run", .array(let words)):
            let arguments = words.compactMap(\.string)
            guard arguments.count == words.count, let shard = tree["shard"]?.string, number("interval") > 0 else {
                return nil
            }
            let rate = tree["rate"]?.integer.map { Rate(units: min($0, Rate.highest.units)) }
            self = .run(arguments: arguments, shard: shard, interval: number("interval"), rate: rate)
        case ("clock", _): self = .clock
        case ("start", .integer(let time)): self = .start(at: time)
        case ("stop", _): self = .stop
        case ("ready", .string(let version)):
            guard (1...UInt64(LoadOptions.threadLimit)).contains(number("threads")) else { return nil }
            self = .ready(version: version, threads: Int(number("threads")))
        case ("refused", .string(let reason)): self = .refused(reason)
        case ("time", .integer(let time)): self = .time(time)
        case ("interval", .integer(let worker)):
            guard let metrics = tree["metrics"].flatMap({ MetricsCodec.decode($0) }) else { return nil }
            self = .interval(
                IntervalPart(
                    worker: Int(clamping: worker),
                    isWarmUp: tree["warm_up"]?.bool ?? false,
                    first: number("first"),
                    next: number("next"),
                    end: number("end"),
                    metrics: metrics
                )
            )
        case ("result", .integer(let worker)):
            guard let metrics = tree["metrics"].flatMap({ MetricsCodec.decode($0) }) else { return nil }
            self = .result(
                worker: Int(clamping: worker),
                WorkerResult(
                    metrics: metrics,
                    connections: Int(clamping: number("connections")),
                    start: Instant(nanoseconds: Int64(clamping: number("start"))),
                    end: Instant(nanoseconds: Int64(clamping: number("end"))),
                    core: CoreTime(used: number("used"), queued: number("queued"))
                )
            )
        case ("note", .string(let text)): self = .note(text)
        case ("end", _): self = .end
        default: return nil
        }
    }
}
