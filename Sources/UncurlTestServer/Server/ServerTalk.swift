internal import UncurlWebSocket

/// A WebSocket connection. It sends every message back in one frame.
final class ServerTalk {
    private var machine: WebSocketMachine

    /// Tests send large messages, but a test server holds only a few.
    private static let maximumMessageSize = 64 << 20

    init(_ agreement: Agreement) {
        machine = WebSocketMachine(
            .server,
            deflate: agreement.deflate,
            maximumMessageSize: ServerTalk.maximumMessageSize
        )
    }

    /// Answers the input from `position` on, as far as there is room.
    func take(_ input: Span<UInt8>, _ position: inout Int, _ shared: ServerScratch) -> ServerMachine.Need {
        defer { shared.output += machine.takeOutput() }
        var room = ServerScratch.highWater
        do throws(WebSocketError) {
            while let event = try machine.receive(input, &position) {
                switch event {
                case .message(let message):
                    room -= message.size
                    _ = machine.send(message)
                case .ping(let payload):
                    room -= payload.count
                    machine.pong(payload)
                case .pong:
                    break
                case .closed:
                    // RFC 6455 §7.1.1: the server closes first.
                    return .end(.linger)
                }
                if room < 0 { return .room }
            }
        } catch {
            return .end(.linger)
        }
        return .input
    }
}

extension WebSocketMessage {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
