internal import Synchronization
internal import URLLoading

/// The progress of the content of a request or of an answer, in bytes. It is a snapshot. Later snapshots of a transfer
/// are never smaller.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes transferred so far.
    public let completed: Int64
    /// The expected bytes; nil where they are unknown.
    public let total: Int64?

    /// A snapshot, with both counts in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    init(_ completed: Int64, of expected: Int64) {
        self.init(completed: completed, total: expected >= 0 ? expected : nil)
    }

    init(sentBy task: URLSessionTask?) {
        self.init(task?.countOfBytesSent ?? 0, of: task?.countOfBytesExpectedToSend ?? -1)
    }

    /// Before the head of an answer has come, its length is unknown.
    init(receivedBy task: URLSessionTask?) {
        self.init(
            task?.countOfBytesReceived ?? 0,
            of: task?.response == nil ? -1 : task?.countOfBytesExpectedToReceive ?? -1
        )
    }

    /// From 0 to 1; nil where the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}

/// The progress of a transfer, over all its attempts. A slow reader misses values in between and gets the newest one.
/// Each value is greater than the one before. The sequence ends with the transfer, after its last value. It may be read
/// on any thread, by one reader.
public typealias ProgressSequence = AsyncStream<TransferProgress>

/// The readers of a transfer's progress in one direction.
final class ProgressReaders: Sendable {
    private typealias Readers = (
        continuations: [Int: ProgressSequence.Continuation], count: Int, most: Int64, isOver: Bool
    )

    private let readers: Mutex<Readers>

    /// - Parameter isOver: whether the transfer has ended. Its sequences then end at once.
    init(isOver: Bool) { readers = Mutex(([:], 0, 0, isOver)) }

    func sequence() -> ProgressSequence {
        let (values, continuation) = ProgressSequence.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = readers.withLock { readers -> Int? in
            guard !readers.isOver else { return nil }
            readers.count += 1
            readers.continuations[readers.count] = continuation
            return readers.count
        }
        guard let key else {
            continuation.finish()
            return values
        }
        continuation.onTermination = { [weak self] _ in
            let gone = self?.readers.withLock { $0.continuations.removeValue(forKey: key) }
            withExtendedLifetime(gone) {}
        }
        return values
    }

    /// Values are passed on under the lock, so that readers get them in order. No code of the program runs under it.
    func tell(_ progress: TransferProgress) {
        readers.withLock { readers in
            guard progress.completed > readers.most else { return }
            readers.most = progress.completed
            for continuation in readers.continuations.values { continuation.yield(progress) }
        }
    }

    func finish(_ last: TransferProgress) {
        tell(last)
        let ended = readers.withLock { readers in
            readers.isOver = true
            return readers.continuations
        }
        // Called outside the lock: the end of a sequence takes the lock.
        for continuation in ended.values { continuation.finish() }
    }
}

extension HTTPRequest {
    /// The request with progress that grows across attempts and never goes back.
    var withProgressOfAllAttempts: HTTPRequest {
        guard let options = own?.values, options.uploadProgress != nil || options.downloadProgress != nil else {
            return self
        }
        var request = self
        request.options = options.reporting(options.uploadProgress, options.downloadProgress)
        return request
    }
}

extension RequestOptions {
    /// The same options with these readers of the progress, over all attempts.
    func reporting(
        _ upload: (@Sendable (TransferProgress) -> Void)?,
        _ download: (@Sendable (TransferProgress) -> Void)?
    ) -> RequestOptions {
        var options = self
        options.uploadProgress = upload.map(TransferProgress.rising)
        options.downloadProgress = download.map(TransferProgress.rising)
        return options
    }
}

extension TransferProgress {
    /// Passes on only progress that is greater than what was passed on last.
    static func rising(
        _ hear: @escaping @Sendable (TransferProgress) -> Void
    ) -> @Sendable (TransferProgress) -> Void {
        let most = Mutex<Int64>(0)
        return { progress in
            let isFurther = most.withLock { most in
                defer { most = max(most, progress.completed) }
                return progress.completed > most
            }
            if isFurther { hear(progress) }
        }
    }
}
