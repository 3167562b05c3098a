public import Foundation
internal import Synchronization

/// A task that exchanges bytes over TCP, and over TLS from the moment the two sides agree on it.
///
/// Reads are answered in the order of the calls, and so are writes; reads and writes do not wait for each other.
/// ``closeRead()``, ``closeWrite()``, ``captureStreams()``, ``startSecureConnection()`` and ``stopSecureConnection()``
/// take effect after everything that was asked for before them, and before everything asked for later. Calls made
/// before the connection is there wait for it.
///
/// Up to some 64 KiB are read ahead of the program's reads; the rest stays with the peer. The task ends without an
/// error when both directions are closed and all has been read. It ends with one when the connection breaks: after that
/// every call fails. Handlers are called on the session's delegate queue. The request's time limit applies to
/// connecting and to handshakes, that of the resource to the whole task.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    let channel = StreamChannel()
    /// The host and port; nil for a task that was a data task.
    var place: StreamPlace? { spec?.place }

    // MARK: Bytes

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: the least number of bytes with which the handler is called, unless the peer sends no more; at
    ///     least one.
    ///   - maxBytes: the most bytes that are read.
    ///   - timeout: in seconds, from now or the task's first `resume()` on; 0 for none. A read that exceeds it fails
    ///     with `URLError.timedOut`; bytes that have come go to the next read.
    ///   - completionHandler: gets the bytes, nil for none; whether the peer sends no more after them; the error, if
    ///     any.
    open func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        let reply = TaskReply<(Data?, Bool)>.handler { result in
            switch result {
            case .success(let (data, isEnd)): completionHandler(data, isEnd, nil)
            case .failure(let error): completionHandler(nil, false, error)
            }
        }
        channel.ask(.read(reading(channel.number(), minBytes, maxBytes, timeout, reply)))
    }

    /// Reads bytes, as an asynchronous function. If its Swift task is cancelled it stops waiting; the bytes go to the
    /// next read.
    open func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await channel.wait { .read(self.reading($0, minBytes, maxBytes, timeout, $1)) }
    }

    private func reading(
        _ number: UInt64,
        _ least: Int,
        _ most: Int,
        _ timeout: TimeInterval,
        _ reply: TaskReply<(Data?, Bool)>
    ) -> StreamReading {
        let minimum = max(1, least)
        return (number, minimum, max(minimum, most), timeout, reply)
    }

    /// Writes bytes.
    ///
    /// - Parameters:
    ///   - data: the bytes, which are sent after those of earlier calls.
    ///   - timeout: in seconds, from now or the task's first `resume()` on; 0 for none. A write that exceeds it fails;
    ///     if part of it has been sent, every later write fails too.
    ///   - completionHandler: called when the kernel has taken all of it, or never will. How much of it the peer has
    ///     read is not known.
    open func write(
        _ data: Data,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let reply = TaskReply<Void>.handler { result in
            switch result {
            case .success: completionHandler(nil)
            case .failure(let error): completionHandler(error)
            }
        }
        channel.ask(.write(data, timeout: timeout, reply))
    }

    /// Writes bytes, as an asynchronous function.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let reply = TaskReply<Void>.awaited { continuation.resume(with: $0) }
            channel.ask(.write(data, timeout: timeout, reply))
        }
    }

    // MARK: The connection

    /// Gives the connection to the delegate as a pair of streams
    /// (``URLSessionStreamDelegate/urlSession(_:streamTask:didBecome:outputStream:)``). The task is completed then, and
    /// reports nothing more.
    open func captureStreams() { channel.ask(.capture) }

    /// Sends FIN, and over TLS close_notify; reading continues. Later writes fail.
    open func closeWrite() { channel.ask(.closeWrite) }

    /// Stops reading: bytes that come are discarded, and later reads fail. Writing continues.
    open func closeRead() { channel.ask(.closeRead) }

    /// Begins TLS as the client, with the host that the task was made for. The delegate of the session or the task
    /// judges the server's certificate, as with https. Calls made meanwhile wait. If the connection already uses TLS,
    /// the call does nothing. If the task reads an HTTP answer, it fails with `URLError.secureConnectionFailed`.
    open func startSecureConnection() { channel.ask(.startSecurity) }

    /// Ends TLS in order: close_notify is sent, and the peer's is read. Nothing is sent without TLS after that. If the
    /// connection does not use TLS, the call does nothing.
    @available(*, deprecated, message: "TLS cannot be disabled once it is enabled")
    open func stopSecureConnection() { channel.ask(.stopSecurity) }
}
