public import URLLoading

/// Where a request's content comes from.
@frozen public enum RequestBody: Sendable {
    /// The request's parameters, where its serializer puts them.
    case parameters
    /// A value of the program's own. Boxed, so that requests without one stay small.
    ///
    /// - Parameter serializer: writes the value; nil: the request's serializer, which puts it into the query or into
    ///   the content.
    indirect case encoded(any Encodable & Sendable, by: (any RequestSerializer)? = nil)
    /// Bytes in memory. Without a type it is `application/octet-stream`.
    case data(Data, contentType: String? = nil)
    /// A file of this machine, read as it is sent.
    case file(URL, contentType: String? = nil)
    /// A form of several parts, sent as it is read. Parameters become its first fields.
    case multipart(MultipartForm)
    /// A stream a call: made anew for each attempt, redirect and challenge.
    ///
    /// - Parameter length: in bytes, sent as Content-Length and held to; nil sends in chunks.
    case stream(length: Int64? = nil, contentType: String? = nil, @Sendable () throws -> InputStream)

    /// Whether the content can be had once more.
    var isReplayable: Bool {
        switch self {
        case .parameters, .encoded, .data, .file, .stream: true
        case .multipart(let form): form.isReplayable
        }
    }
}

extension RequestBody {
    /// JSON of a value, as `application/json`, whatever the method and the request's serializer.
    ///
    /// - Parameters:
    ///   - value: encoded when the request is built.
    ///   - encoder: writes the value. Its snapshot is kept: later changes to the encoder object have no effect.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        .encoded(value, by: EncodableRequestSerializer(encoder: encoder, http: .content))
    }

    /// The names and values of a value, as `application/x-www-form-urlencoded`, whatever the method and the request's
    /// serializer.
    public static func form(_ value: some Encodable & Sendable) -> RequestBody {
        .encoded(value, by: HTTPRequestSerializer.content)
    }
}

extension HTTPRequestSerializer {
    /// Content alone, beside whatever the request's own serializer has set.
    fileprivate static var content: HTTPRequestSerializer { HTTPRequestSerializer(defaults: .none, placement: .body) }
}
