public import Foundation

/// Gets the events of stream tasks, besides those of every task (``URLSessionTaskDelegate``).
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Reports that the peer sends nothing more.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Reports that nothing more can be sent.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// Is never called on Linux: a TCP connection keeps the route it began with.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// Gives the streams that `captureStreams()` asked for: from here on they read and write the connection.
    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    )
}

extension URLSessionStreamDelegate {
    /// As in ``URLSessionTaskDelegate``.
    private func other(_ session: URLSession) -> (any URLSessionStreamDelegate)? {
        guard let delegate = session.delegate as? any URLSessionStreamDelegate, delegate !== self else { return nil }
        return delegate
    }

    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        other(session)?.urlSession(session, readClosedFor: streamTask)
    }

    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        other(session)?.urlSession(session, writeClosedFor: streamTask)
    }

    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        other(session)?.urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        other(session)?.urlSession(
            session,
            streamTask: streamTask,
            didBecome: inputStream,
            outputStream: outputStream
        )
    }
}
