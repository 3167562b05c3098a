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

/// As in ``URLSessionTaskDelegate``.
extension URLSessionStreamDelegate {
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        session.passOn(.readClosed, of: streamTask, from: self)
    }

    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        session.passOn(.writeClosed, of: streamTask, from: self)
    }

    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        let streams = CapturedStreams(input: inputStream, output: outputStream)
        session.passOn(.captured(streams), of: streamTask, from: self)
    }
}
