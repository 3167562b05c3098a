internal import URLLoading

/// What one task does by itself, besides its manager's hooks: fixed when it is made.
struct TaskBehavior: Sendable {
    var redirects: RedirectBehavior?
    var caching: CacheBehavior?
    var credential: URLCredential?
    var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    var newBodyStream: (@Sendable () throws -> InputStream)?
    var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    var downloadProgress: (@Sendable (TransferProgress) -> Void)?
    /// Of who keeps the content in place of the task: asked before all hooks whether it goes on, and told after them what came.
    var takesHead: (@Sendable (HTTPURLResponse?) -> Bool)?
    var takesContent: (@Sendable (URLSessionTask, Data) -> Void)?

    var interests: TaskInterests {
        var interests: TaskInterests = []
        if redirects != nil { interests.insert(.redirect) }
        if caching != nil { interests.insert(.caching) }
        if credential != nil { interests.insert(.challenge) }
        if onResponse != nil || takesHead != nil { interests.insert(.response) }
        if takesContent != nil { interests.insert(.content) }
        if newBodyStream != nil { interests.insert(.bodyStream) }
        if uploadProgress != nil { interests.insert(.sent) }
        if downloadProgress != nil { interests.formUnion([.received, .written]) }
        return interests
    }
}

extension TaskBehavior {
    init(_ options: RequestOptions) {
        redirects = options.redirects
        caching = options.caching
        credential = options.credential
        onResponse = options.onResponse
        uploadProgress = options.uploadProgress
        downloadProgress = options.downloadProgress
    }
}
