public import Foundation

/// Gets the events of WebSocket tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// Reports that the handshake is done; `protocol` is the server's choice among those offered.
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    )

    /// Reports that the peer has sent a close frame (RFC 6455 §5.5.1).
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    )
}

/// As in ``URLSessionTaskDelegate``.
extension URLSessionWebSocketDelegate {
    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) { session.passOn(.opened(`protocol`), of: webSocketTask, from: self) }

    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) { session.passOn(.closed(closeCode, reason), of: webSocketTask, from: self) }
}
