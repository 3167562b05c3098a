public import URLLoading

/// Where a request's content comes from.
public enum RequestBody: Sendable {
    /// The request's parameters, where its serializer puts them.
    case parameters
    case data(Data, contentType: String? = nil)
    /// A file of this machine, read as it is sent.
    case file(URL, contentType: String? = nil)
    case multipart(MultipartForm)
    /// A stream a call: made anew for each attempt, redirect and challenge.
    ///
    /// - Parameter length: in bytes, sent as Content-Length and held to; nil sends in chunks.
    case stream(length: Int64? = nil, contentType: String? = nil, @Sendable () throws -> InputStream)

    /// Whether the content can be had once more.
    var isReplayable: Bool {
        switch self {
        case .parameters, .data, .file, .stream: true
        case .multipart(let form): form.isReplayable
        }
    }
}
