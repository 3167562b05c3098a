internal import Foundation
internal import HTTP1
internal import WebSocket

/// One opening handshake of a task: redirects and challenges begin another.
struct WebSocketOpening {
    let handshake: ClientHandshake

    /// The subprotocols are those of the request's Sec-WebSocket-Protocol field; its other fields of the handshake are not sent.
    init(_ request: URLRequest) throws(URLError) {
        let field = request.value(forHTTPHeaderField: WebSocketOpening.subprotocols) ?? ""
        let names = field.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        do throws(HandshakeError) {
            handshake = try ClientHandshake(protocols: names)
        } catch {
            throw ErrorTranslation.urlError(.badURL, request.url, error)
        }
    }

    private static let subprotocols = "Sec-WebSocket-Protocol"

    static func request(_ url: URL, _ protocols: [String]) -> URLRequest {
        var request = URLRequest(url: url)
        if !protocols.isEmpty {
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: subprotocols)
        }
        return request
    }

    static func task(_ session: URLSession, _ number: Int, _ request: URLRequest) -> URLSessionWebSocketTask {
        let task = URLSessionWebSocketTask(session, number, TaskSpec(request))
        task.channel.adopt(queue: session.delegateQueue, url: request.url)
        return task
    }

    /// In lower case: what a request of the user's cannot decide.
    static let derived: Set<String> = [
        "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-accept",
        "sec-websocket-protocol",
    ]
}
