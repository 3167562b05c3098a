public import Foundation
internal import Synchronization

/// Bytes both ways over TCP, with TLS from the moment the two sides agree on it.
///
/// Reads are answered in the order they were asked for, and so are writes; reads and writes do not wait for each other.
/// ``closeRead()``, ``closeWrite()``, ``captureStreams()``, ``startSecureConnection()`` and ``stopSecureConnection()``
/// come after everything asked for before them, and before everything asked for later. What is asked before the
/// connection is there waits for it.
///
/// What is not read stays with the peer, but for some 64 KiB. The task ends without an error when both directions are
/// closed and all has been read; with one when the connection breaks, after which everything asked for fails. Handlers
/// are called on the session's delegate queue. The request's time limit holds for connecting and for handshakes, that
/// of the resource for all of it.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    let channel = StreamChannel()
    /// Nil for one that was a data task.
    var place: StreamPlace? { spec?.place }

    // MARK: Bytes

    /// - Parameters:
    ///   - minBytes: how many there are when the handler is called, unless the peer sends no more; at least one.
    ///   - maxBytes: how many there are at most.
    ///   - timeout: in seconds, from now or the task's first `resume()` on; 0 for none. A read that runs out of it
    ///     fails with `URLError.timedOut`, and what has come is the next one's.
    ///   - completionHandler: the bytes, nil for none; whether the peer sends no more behind them; why there are none.
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

    /// The same as a function that waits. A Swift task that is cancelled stops waiting; what comes is the next read's.
    open func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        let number = channel.number()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let reply = TaskReply<(Data?, Bool)>.awaited { continuation.resume(with: $0) }
                channel.ask(.read(reading(number, minBytes, maxBytes, timeout, reply)))
                // Cancelled before there was anything to take back.
                if Task.isCancelled { channel.takeBack(number) }
            }
        } onCancel: {
            channel.takeBack(number)
        }
    }

    private func reading(
        _ number: UInt64,
        _ least: Int,
        _ most: Int,
        _ timeout: TimeInterval,
        _ reply: TaskReply<(Data?, Bool)>
    ) -> StreamReading {
        let minimum = max(1, least)
        return StreamReading(
            number: number,
            minimum: minimum,
            maximum: max(minimum, most),
            timeout: timeout,
            reply: reply
        )
    }

    /// - Parameters:
    ///   - data: all of it is written, after what was given before.
    ///   - timeout: in seconds, from now or the task's first `resume()` on; 0 for none. A write that runs out of it
    ///     fails, and so does every later one if part of it had left.
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
        channel.ask(.write(StreamWriting(data: data, timeout: timeout, reply: reply)))
    }

    /// The same as a function that waits.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let reply = TaskReply<Void>.awaited { continuation.resume(with: $0) }
            channel.ask(.write(StreamWriting(data: data, timeout: timeout, reply: reply)))
        }
    }

    // MARK: The connection

    /// Gives the connection to the delegate as a pair of streams
    /// (``URLSessionStreamDelegate/urlSession(_:streamTask:didBecome:outputStream:)``). The task is completed then, and
    /// tells nothing more.
    open func captureStreams() { channel.ask(.capture) }

    /// Sends FIN, over TLS close_notify; reading goes on. Later writes fail.
    open func closeWrite() { channel.ask(.closeWrite) }

    /// Nothing more is read: what comes is let go of, and later reads fail. Writing goes on.
    open func closeRead() { channel.ask(.closeRead) }

    /// Begins TLS, as the client, with the host that the task was made for. Its certificate is the session's and the
    /// task's delegate's to judge, as with https. What is asked for meanwhile waits. A connection that has it already
    /// goes on with it; one that carries an HTTP answer cannot, and fails.
    open func startSecureConnection() { channel.ask(.startSecurity) }

    /// Ends TLS in order: close_notify leaves, and the peer's is read. Nothing follows in the clear. Without TLS it
    /// means nothing.
    @available(*, deprecated, message: "TLS cannot be disabled once it is enabled")
    open func stopSecureConnection() { channel.ask(.stopSecurity) }
}
