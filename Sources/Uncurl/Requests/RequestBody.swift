public import URLLoading

/// The content of a request.
@frozen public enum RequestBody: Sendable {
    /// The request's parameters, at the place that its serializer chooses.
    case parameters
    /// A value of the program's own. It is boxed, so that requests without one stay small.
    ///
    /// - Parameter serializer: writes the value into the query or the content; nil for the request's serializer.
    indirect case encoded(any Encodable & Sendable, by: (any RequestSerializer)? = nil)
    /// Bytes in memory. The default content type is `application/octet-stream`.
    case data(Data, contentType: String? = nil)
    /// A local file, read while it is sent.
    case file(URL, contentType: String? = nil)
    /// A form of several parts, sent while it is read. Parameters become its first fields.
    case multipart(MultipartForm)
    /// A stream that the closure makes anew for each attempt, redirect and challenge.
    ///
    /// - Parameter length: in bytes, sent as Content-Length and enforced; nil sends chunks.
    case stream(length: Int64? = nil, contentType: String? = nil, @Sendable () throws -> InputStream)

    /// Whether the content can be sent again.
    var isReplayable: Bool {
        switch self {
        case .parameters, .encoded, .data, .file, .stream: true
        case .multipart(let form): form.isReplayable
        }
    }
}

extension RequestBody {
    /// A value as JSON (`application/json`), whatever the method and the request's serializer.
    ///
    /// - Parameters:
    ///   - value: encoded when the request is built.
    ///   - encoder: writes the value. Its snapshot is kept: later changes to the encoder object have no effect.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        .encoded(value, by: EncodableRequestSerializer(encoder: encoder, http: .content))
    }

    /// The names and values of a value as `application/x-www-form-urlencoded`, whatever the method and the request's
    /// serializer.
    public static func form(_ value: some Encodable & Sendable) -> RequestBody {
        .encoded(value, by: HTTPRequestSerializer.content)
    }
}

extension HTTPRequestSerializer {
    /// A serializer that sets only the content, and keeps what the request's own serializer has set.
    fileprivate static var content: HTTPRequestSerializer { HTTPRequestSerializer(defaults: .none, placement: .body) }
}
