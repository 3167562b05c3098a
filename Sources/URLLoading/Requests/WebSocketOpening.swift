internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlWebSocket

/// One opening handshake of a task. A redirect or a challenge needs another one.
struct WebSocketOpening {
    let handshake: ClientHandshake

    /// The subprotocols come from the request's Sec-WebSocket-Protocol field. The request's other fields of a handshake
    /// are not sent.
    init(_ request: URLRequest) throws(URLError) {
        let field = request.value(forHTTPHeaderField: SubprotocolOffer.field) ?? ""
        let names = field.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t")) }
        handshake = try SubprotocolOffer.handshake(offering: names, request.url)
    }

    /// The agreement of both sides, from the head of a 101.
    ///
    /// - Parameter url: the URL as the program gave it, for errors.
    func agreement(_ head: ResponseHead, _ url: URL?) throws(URLError) -> Agreement {
        do throws(HandshakeError) {
            return try handshake.check(head)
        } catch {
            throw ErrorTranslation.urlError(.badServerResponse, url, error)
        }
    }

    /// The error for an answer that does not switch protocols. Such an answer ends the task and is kept in the task's
    /// response.
    static func refusal(_ response: URLResponse, _ url: URL?) -> URLError {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let reason = "the server answered \(status) and did not switch to WebSocket"
        return ErrorTranslation.urlError(.badServerResponse, url, reason)
    }

    /// The fields, in lower case, that a program's request cannot set.
    static let derived: Set<String> = [
        "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-accept",
        "sec-websocket-protocol",
    ]
}
