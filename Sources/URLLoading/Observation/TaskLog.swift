#if SwiftLog
internal import Foundation
internal import Logging

/// Writes a task to a logger of swift-log.
struct TaskLog: Sendable {
    let logger: Logger
    let task: Int
    let showsQueries: Bool

    static func observer(_ logger: Logger, showsQueries: Bool) -> SessionObserver {
        { task in
            let log = TaskLog(logger: logger, task: task.identifier, showsQueries: showsQueries)
            let method = task.request.httpMethod ?? "GET"
            let url = ObservedNames.url(task.url, showsQuery: showsQueries)
            log.write(.debug, "sending", ["method": "\(method)", "url": "\(url)"])
            return ([], { log.note($0, $1) })
        }
    }

    private func note(_ line: TaskObservation.Line?, _ end: TaskEnd?) {
        if let end { return write(end) }
        guard let line else { return }
        let location = line.url.map { ObservedNames.url($0, showsQuery: showsQueries) }
        write(.debug, "\(line.words)", ["status": line.status.map { "\($0)" }, "url": location.map { "\($0)" }])
    }

    private func write(_ end: TaskEnd) {
        var facts: [String: Logger.MetadataValue?] = [
            "status": end.status.map { "\($0)" }, "duration": "\(end.duration)",
            "sent": end.transferred.map { "\($0.sent)" }, "received": end.transferred.map { "\($0.received)" },
        ]
        if end.resends > 0 { facts["resends"] = "\(end.resends)" }
        guard let failure = end.failure else { return write(.info, "done", facts) }
        guard !end.isCancelled else { return write(.debug, "cancelled", facts) }
        facts["error"] = "\(failure)"
        write(.error, "failed", facts)
    }

    private func write(
        _ level: Logger.Level,
        _ message: Logger.Message,
        _ facts: [String: Logger.MetadataValue?] = [:]
    ) {
        var metadata = facts.compactMapValues { $0 }
        metadata["task"] = "\(task)"
        logger.log(level: level, message, metadata: metadata)
    }
}
#endif
