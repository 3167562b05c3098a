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

extension URLSessionWebSocketDelegate {
    /// As in ``URLSessionTaskDelegate``.
    private func other(_ session: URLSession) -> (any URLSessionWebSocketDelegate)? {
        guard let delegate = session.delegate as? any URLSessionWebSocketDelegate, delegate !== self else { return nil }
        return delegate
    }

    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        other(session)?.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        other(session)?.urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}
