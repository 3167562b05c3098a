import UncurlWebSocket

/// A machine that `#expect` can look at, which a type without copies does not allow.
final class Side {
    private var machine: WebSocketMachine

    init(_ role: Role, deflate: DeflateAgreement? = nil) { machine = WebSocketMachine(role, deflate: deflate) }

    var state: WebSocketMachine.State { machine.state }
    var hasOutput: Bool { machine.hasOutput }
    func takeOutput() -> [UInt8] { machine.takeOutput() }
    func send(_ message: WebSocketMessage) -> Bool { machine.send(message) }
    func ping(_ payload: [UInt8]) -> Bool { machine.ping(payload) }
    func pong(_ payload: [UInt8]) { machine.pong(payload) }
    func close(_ reason: CloseReason) -> Bool { machine.close(reason) }

    /// Takes `bytes` in pieces that end where `next` says.
    func receive(
        _ bytes: [UInt8],
        next: (Int) -> Int = { _ in .max }
    ) throws(WebSocketError) -> [WebSocketMachine.Event] {
        var events: [WebSocketMachine.Event] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, max(start + 1, next(start)))
            var position = start
            while let event = try machine.receive(bytes.span.extracting(0..<end), &position) { events.append(event) }
            start = end
        }
        return events
    }
}
