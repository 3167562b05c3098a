#if SwiftLog
internal import Foundation
internal import Logging

/// Writes a session's tasks to a logger of swift-log.
struct SessionLog: SessionObserver {
    let logger: Logger
    let showsQueries: Bool

    func begins(_ task: ObservedTask) -> any TaskObserver {
        let log = TaskLog(logger: logger, task: task.identifier, showsQueries: showsQueries)
        log.write(
            .debug,
            "sending",
            [
                "method": "\(task.request.httpMethod ?? "GET")",
                "url": "\(ObservedNames.url(task.url, showsQuery: showsQueries))",
            ]
        )
        return log
    }
}

private struct TaskLog: TaskObserver {
    let logger: Logger
    let task: Int
    let showsQueries: Bool

    func note(_ event: TaskEvent) {
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

    func write(_ level: Logger.Level, _ message: Logger.Message, _ facts: [String: Logger.MetadataValue?] = [:]) {
        var metadata = facts.compactMapValues { $0 }
        metadata["task"] = "\(task)"
        logger.log(level: level, message, metadata: metadata)
    }
}
#endif
