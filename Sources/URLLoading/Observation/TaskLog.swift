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
            return TaskObserver { log.note($0) }
        }
    }

    private func note(_ event: TaskEvent) {
        switch event {
        case .redirected(let status, let url):
            let location = ObservedNames.url(url, showsQuery: showsQueries)
            write(.debug, "redirected", ["status": status.map { "\($0)" }, "url": "\(location)"])
        case .waitsForConnectivity: write(.debug, "waiting for connectivity")
        case .sendsAgain: write(.debug, "trying again")
        case .ended(let end): write(end)
        }
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
