public import URLLoading
internal import UncurlText

/// Writes parameters or a value as the content that an encoder makes. For methods without content they go into the
/// query.
public struct EncodableRequestSerializer: RequestSerializer {
    /// The encoder, as a snapshot: later changes to an encoder object do not affect a request.
    public var encoder: any ContentEncoder {
        get { own }
        set { own = newValue.snapshot() }
    }
    private var own: any ContentEncoder
    /// Decides where parameters go and how a query is written, and has the defaults of all requests.
    public var http: HTTPRequestSerializer

    /// - Parameters:
    ///   - encoder: makes the content. Its snapshot is kept: later changes to an encoder object have no effect.
    ///   - http: writes the queries of methods whose parameters go there, and has the default fields.
    public init(encoder: some ContentEncoder, http: HTTPRequestSerializer = HTTPRequestSerializer()) {
        own = encoder.snapshot()
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        try http.serialize(parameters, into: request, contentType: own.contentType) {
            parameters throws(ParameterFailure) in
            try encoded(parameters)
        }
    }

    public func serialize(encoding value: some Encodable, into request: URLRequest) throws(UncurlError) -> URLRequest {
        guard !http.isInQuery(of: request) else { return try http.serialize(encoding: value, into: request) }
        return try http.serialize(.empty, into: request, contentType: own.contentType) { _ throws(ParameterFailure) in
            try encoded(value)
        }
    }

    private func encoded(_ value: some Encodable) throws(ParameterFailure) -> Data {
        try ParameterFailure.wrapping { try own.encode(value) }
    }
}

extension EncodableRequestSerializer: CustomStringConvertible {
    public var description: String { described(Self.self, ["encoder": type(of: own), "http": http]) }
}

/// Encodes values as content.
public protocol ContentEncoder: Sendable {
    /// The value of the Content-Type field.
    var contentType: String { get }

    /// Encodes a value. May be called on any thread, for several values at once.
    func encode<Value: Encodable>(_ value: Value) throws -> Data

    /// A copy of the encoder that later changes do not affect. A value type returns itself.
    func snapshot() -> any ContentEncoder
}

extension ContentEncoder {
    public func snapshot() -> any ContentEncoder { self }
}

extension JSONEncoder: ContentEncoder {
    public var contentType: String { "application/json" }

    /// Returns a subclass's object itself: its additions cannot be copied.
    public func snapshot() -> any ContentEncoder {
        guard type(of: self) == JSONEncoder.self else { return self }
        let copy = JSONEncoder()
        copy.outputFormatting = outputFormatting
        copy.dateEncodingStrategy = dateEncodingStrategy
        copy.dataEncodingStrategy = dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        copy.keyEncodingStrategy = keyEncodingStrategy
        copy.userInfo = userInfo
        return copy
    }
}

extension PropertyListEncoder: ContentEncoder {
    public var contentType: String { "application/x-plist" }

    /// Returns a subclass's object itself: its additions cannot be copied.
    public func snapshot() -> any ContentEncoder {
        guard type(of: self) == PropertyListEncoder.self else { return self }
        let copy = PropertyListEncoder()
        copy.outputFormat = outputFormat
        copy.userInfo = userInfo
        return copy
    }
}
