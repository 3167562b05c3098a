internal import URLLoading

/// What one task does besides its manager's hooks. It is fixed when the task is made. Most tasks have no such behavior
/// and share one object, so each task holds a reference and not nine closures.
final class TaskBehavior: Sendable {
    typealias TellProgress = @Sendable (TransferProgress) -> Void

    let redirects: RedirectBehavior?
    let caching: CacheBehavior?
    let credential: URLCredential?
    let onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    let newBodyStream: (@Sendable () throws -> InputStream)?
    let uploadProgress: TellProgress?
    let downloadProgress: TellProgress?
    /// Used by code that keeps the content in place of the task. `takesHead` decides before all hooks whether the task
    /// continues; `takesContent` gets the content after them.
    let takesHead: (@Sendable (HTTPURLResponse?) -> Bool)?
    let takesContent: (@Sendable (URLSessionTask, Data) -> Void)?
    let interests: TaskInterests

    static let plain = TaskBehavior()

    init(
        redirects: RedirectBehavior? = nil,
        caching: CacheBehavior? = nil,
        credential: URLCredential? = nil,
        onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)? = nil,
        newBodyStream: (@Sendable () throws -> InputStream)? = nil,
        uploadProgress: TellProgress? = nil,
        downloadProgress: TellProgress? = nil,
        takesHead: (@Sendable (HTTPURLResponse?) -> Bool)? = nil,
        takesContent: (@Sendable (URLSessionTask, Data) -> Void)? = nil
    ) {
        self.redirects = redirects
        self.caching = caching
        self.credential = credential
        self.onResponse = onResponse
        self.newBodyStream = newBodyStream
        self.uploadProgress = uploadProgress
        self.downloadProgress = downloadProgress
        self.takesHead = takesHead
        self.takesContent = takesContent
        var interests = TaskInterests.none
        if redirects != nil { interests.insert(.redirect) }
        if caching != nil { interests.insert(.caching) }
        if credential != nil { interests.insert(.challenge) }
        if onResponse != nil || takesHead != nil { interests.insert(.response) }
        if takesContent != nil { interests.insert(.content) }
        if newBodyStream != nil { interests.insert(.bodyStream) }
        if uploadProgress != nil { interests.insert(.sent) }
        if downloadProgress != nil { interests = interests.union(.received).union(.written) }
        self.interests = interests
    }

    /// The same behavior, for code that keeps the content in place of the task, and so knows its progress.
    func taking(
        head takesHead: @escaping @Sendable (HTTPURLResponse?) -> Bool,
        content takesContent: @escaping @Sendable (URLSessionTask, Data) -> Void,
        uploadProgress: TellProgress?
    ) -> TaskBehavior {
        TaskBehavior(
            redirects: redirects,
            caching: caching,
            credential: credential,
            onResponse: onResponse,
            newBodyStream: newBodyStream,
            uploadProgress: uploadProgress,
            takesHead: takesHead,
            takesContent: takesContent
        )
    }
}

extension RequestOptions {
    /// - Parameter newBodyStream: makes the stream of a request whose content is a stream.
    func behavior(newBodyStream: (@Sendable () throws -> InputStream)? = nil) -> TaskBehavior {
        guard !isPlain || newBodyStream != nil else { return .plain }
        return TaskBehavior(
            redirects: redirects,
            caching: caching,
            credential: credential,
            onResponse: onResponse,
            newBodyStream: newBodyStream,
            uploadProgress: uploadProgress,
            downloadProgress: downloadProgress
        )
    }
}
