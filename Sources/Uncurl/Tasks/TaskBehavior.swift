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

    var interests: TaskInterests {
        var interests: TaskInterests = []
        if redirects != nil { interests.insert(.redirect) }
        if caching != nil { interests.insert(.caching) }
        if credential != nil { interests.insert(.challenge) }
        if onResponse != nil { interests.insert(.response) }
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
