#if SwiftLog
internal import Foundation
internal import Logging

extension Logger {
    /// Makes the observer that writes a session's tasks to this logger of swift-log.
    func observer(showsQueries: Bool) -> SessionObserver {
        { task in
            let method = task.request.httpMethod ?? "GET"
            let url = task.url.observed(showsQuery: showsQueries)
            write(.debug, "sending", ["method": "\(method)", "url": "\(url)"], of: task.identifier)
            return (
                [],
                { [identifier = task.identifier] line, end in
                    if let end { return write(end, of: identifier) }
                    guard let line else { return }
                    let location = line.url.map { $0.observed(showsQuery: showsQueries) }
                    let facts = ["status": line.status.map { "\($0)" }, "url": location]
                    write(.debug, "\(line.words)", facts, of: identifier)
                }
            )
        }
    }

    private func write(_ end: TaskEnd, of task: Int) {
        var facts: [String: String?] = [
            "status": end.status.map { "\($0)" }, "duration": "\(end.duration)",
            "sent": end.transferred.map { "\($0.sent)" }, "received": end.transferred.map { "\($0.received)" },
        ]
        if end.resends > 0 { facts["resends"] = "\(end.resends)" }
        guard let failure = end.failure else { return write(.info, "done", facts, of: task) }
        guard !end.isCancelled else { return write(.debug, "cancelled", facts, of: task) }
        facts["error"] = failure
        write(.error, "failed", facts, of: task)
    }

    private func write(_ level: Level, _ message: Message, _ facts: [String: String?], of task: Int) {
        var metadata: Metadata = facts.compactMapValues { $0.map { .string($0) } }
        metadata["task"] = "\(task)"
        log(level: level, message, metadata: metadata)
    }
}
#endif
