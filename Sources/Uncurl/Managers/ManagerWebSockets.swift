public import URLLoading
internal import UncurlHTTP1

/// WebSockets on a manager's session.
extension URLSessionManager {
    /// Makes a WebSocket task. It begins with `resume()`. Interceptors are not called.
    ///
    /// - Parameters:
    ///   - path: a URL, or a reference that is resolved against the manager's base URL.
    ///   - protocols: the subprotocols that the client offers, the preferred one first (RFC 6455 §1.9). The server's
    ///     choice is `URLSessionWebSocketTask.chosenProtocol`.
    ///   - headers: fields of the opening handshake.
    /// - Throws: ``UncurlError/header(name:)`` of `Sec-WebSocket-Protocol` for a subprotocol that is no token or is
    ///   offered twice (RFC 6455 §4.1), and of any other field that cannot be sent;
    ///   ``UncurlError/invalidURL(_:reason:)``.
    public func webSocketTask(
        _ path: String,
        protocols: [String] = [],
        headers: HTTPHeaders = HTTPHeaders()
    ) throws(UncurlError) -> URLSessionWebSocketTask {
        let field = "Sec-WebSocket-Protocol"
        guard protocols.allSatisfy(\.isToken), Set(protocols).count == protocols.count else {
            throw .header(name: field)
        }
        var request = try urlRequest(for: HTTPRequest(path, headers: headers))
        if !protocols.isEmpty { request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: field) }
        return session.webSocketTask(with: request)
    }
}

extension URLSessionWebSocketTask {
    /// The subprotocol that the server has chosen among those offered; nil before the end of the opening handshake, and
    /// where the server chose none.
    public var chosenProtocol: String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Sec-WebSocket-Protocol")
    }
}
