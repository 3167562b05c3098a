internal import Synchronization

extension HTTPRequest {
    /// The request with progress that grows across attempts and never goes back.
    var withProgressOfAllAttempts: HTTPRequest {
        guard !options.isPlain, options.uploadProgress != nil || options.downloadProgress != nil else { return self }
        var request = self
        request.options.uploadProgress = options.uploadProgress.map { RisingProgress($0).tell }
        request.options.downloadProgress = options.downloadProgress.map { RisingProgress($0).tell }
        return request
    }
}

/// Reports only progress that is greater than the last report.
final class RisingProgress: Sendable {
    private let most = Mutex<Int64>(-1)
    let hear: @Sendable (TransferProgress) -> Void

    init(_ hear: @escaping @Sendable (TransferProgress) -> Void) { self.hear = hear }

    @Sendable func tell(_ progress: TransferProgress) {
        let isFurther = most.withLock { most in
            defer { most = max(most, progress.completed) }
            return progress.completed > most
        }
        if isFurther { hear(progress) }
    }
}
