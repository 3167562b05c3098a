import LoadGenerator

/// The part of the report for people about a run of WebSockets.
enum WebSocketText {
    /// The title and the text of each line.
    static func counts(_ sockets: WebSocketMetrics, _ result: RunResult) -> [(String, String)] {
        let each = WebSocketPart.perConnection(result.metrics).map { ", \(fixed($0, 1)) messages on each" } ?? ""
        let rate = fixed(result.perSecond(sockets.opened), 2)
        let (dropped, pushed) = (grouped(sockets.dropped), grouped(sockets.pushed))
        return [
            ("WebSockets", "\(grouped(sockets.opened)) opened in the measured part, \(rate)/s\(each)"),
            ("", "\(dropped) ended by the server at rest; \(pushed) messages that answered none"),
        ]
    }
}
