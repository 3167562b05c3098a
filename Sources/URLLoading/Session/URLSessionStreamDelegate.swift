public import Foundation

/// Hears about stream tasks, besides what ``URLSessionTaskDelegate`` tells of every task.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// The peer sends nothing more.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Nothing more can be sent.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// Never on Linux: a TCP connection stays with the route it began on.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The answer to `captureStreams()`: the connection is read and written through these from here on.
    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    )
}

extension URLSessionStreamDelegate {
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {}

    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {}

    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {}
}
