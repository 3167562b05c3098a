import UncurlLoad
import UncurlReactor
import UncurlText

/// A line between the process that leads a run and a process that makes a part of it: a JSON object whose first member
/// names the message.
enum PartMessage: Sendable {
    // Messages of the lead.
    /// Prepare this part of the command line's run, and report counts at this interval in nanoseconds. The rate and
    /// the duration in nanoseconds, if any, replace the command line's.
    case run(Order)
    case clock
    /// Start at this time, in milliseconds since 1970 by the part's clock.
    case start(at: UInt64)
    /// End the run, and report its results.
    case stop
    // Messages of a part.
    case ready(version: String, threads: Int)
    /// The run cannot be made, for this reason.
    case refused(String)
    /// The time in nanoseconds since 1970.
    case time(UInt64)
    /// The counts of one thread since its last message.
    case interval(IntervalPart)
    /// The remaining result of one thread.
    case result(worker: Int, WorkerResult)
    case note(String)
    case end

    typealias Order = (arguments: [String], shard: String, interval: UInt64, rate: Rate?, duration: UInt64?)

    var line: String { tree.line() + "\n" }

    private var tree: JSONTree {
        switch self {
        case .run(let order):
            .object([
                ("run", .array(order.arguments.map { .string($0) })), ("shard", .string(order.shard)),
                ("interval", .integer(order.interval)), ("rate", .optional(order.rate?.units)),
                ("duration", .optional(order.duration)),
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
                ("metrics", Metrics.encode(part.metrics)),
            ])
        case .result(let worker, let result):
            .object([
                ("result", .integer(UInt64(worker))), ("connections", .integer(UInt64(result.connections))),
                ("start", .integer(UInt64(clamping: result.start.nanoseconds))),
                ("end", .integer(UInt64(clamping: result.end.nanoseconds))),
                ("used", .integer(result.core.used)), ("queued", .integer(result.core.queued)),
                ("metrics", Metrics.encode(result.metrics)),
            ])
        case .note(let text): .object([("note", .string(text))])
        case .end: .object([("end", .null)])
        }
    }

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
            self = .run((arguments, shard, number("interval"), rate, tree["duration"]?.integer))
        case ("clock", _): self = .clock
        case ("start", .integer(let time)): self = .start(at: time)
        case ("stop", _): self = .stop
        case ("ready", .string(let version)):
            guard (1...UInt64(LoadOptions.threadLimit)).contains(number("threads")) else { return nil }
            self = .ready(version: version, threads: Int(number("threads")))
        case ("refused", .string(let reason)): self = .refused(reason)
        case ("time", .integer(let time)): self = .time(time)
        case ("interval", .integer(let worker)):
            guard let metrics = tree["metrics"].flatMap({ Metrics.decode($0) }) else { return nil }
            let isWarmUp = tree["warm_up"]?.bool ?? false
            let (first, next, end) = (number("first"), number("next"), number("end"))
            self = .interval((Int(clamping: worker), isWarmUp, first, next, end, nil, 0, metrics))
        case ("result", .integer(let worker)):
            guard let metrics = tree["metrics"].flatMap({ Metrics.decode($0) }) else { return nil }
            let span = ["start", "end"].map { Instant(nanoseconds: Int64(clamping: number($0))) }
            let (connections, core) = (Int(clamping: number("connections")), (number("used"), number("queued")))
            self = .result(worker: Int(clamping: worker), (metrics, connections, span[0], span[1], core))
        case ("note", .string(let text)): self = .note(text)
        case ("end", _): self = .end
        default: return nil
        }
    }
}
