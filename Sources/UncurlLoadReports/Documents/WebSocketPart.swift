import UncurlLoad
import UncurlText

/// The part of the reports about a run of WebSockets.
enum WebSocketPart {
    /// The part; null where there are no WebSockets.
    static func json(_ result: RunResult) -> JSONTree {
        guard let sockets = result.metrics.webSocket, let options = result.plan.webSocket else { return .null }
        return .object([
            ("message_bytes", .integer(UInt64(options.message.count))),
            ("binary", .bool(options.isBinary)),
            ("opened", .integer(sockets.opened)),
            ("kept", .integer(sockets.kept)),
            ("opened_per_second", .number(result.perSecond(sockets.opened))),
            ("messages_per_connection", perConnection(sockets, result.metrics).map { .number($0) } ?? .null),
            ("dropped", .integer(sockets.dropped)),
            ("pushed", .integer(sockets.pushed)),
            ("open", sockets.open.json),
        ])
    }

    /// Answered messages per WebSocket that could carry them; nil without one.
    private static func perConnection(_ sockets: WebSocketMetrics, _ metrics: Metrics) -> Double? {
        sockets.used == 0 ? nil : Double(metrics.completed) / Double(sockets.used)
    }
}
