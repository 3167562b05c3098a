public import URLLoading
internal import UncurlWebSocket

/// Compresses content in memory before it is sent. A client cannot ask beforehand whether a server decodes a request's
/// content, so the program must know that it does. Files, streams and forms are sent as they are.
public struct RequestCompression: Sendable {
    /// A content coding (RFC 9110 §8.4.1).
    @frozen public enum Coding: String, Sendable {
        /// `deflate` as HTTP defines it: in zlib's frame (RFC 1950, RFC 9110 §8.4.1.2).
        case deflate
        /// `gzip`: RFC 1952.
        case gzip
    }

    /// What happens to a request that already has a Content-Encoding field.
    @frozen public enum ExistingEncoding: Sendable {
        /// The request fails with ``CompressionFailure/encodedAlready(_:)``.
        case fail
        /// The field is replaced. The content is compressed once more.
        case replace
        /// The request is sent as it is.
        case skip
    }

    /// The content coding that is applied.
    public var coding: Coding
    /// What is done with a request that has a Content-Encoding field already.
    public var existing: ExistingEncoding
    /// Whether this content is worth compressing.
    public var applies: @Sendable (Data) -> Bool

    /// Makes a compression. Each argument is described at the property of its name.
    public init(
        _ coding: Coding = .deflate,
        existing: ExistingEncoding = .fail,
        applies: @escaping @Sendable (Data) -> Bool = { !$0.isEmpty }
    ) {
        self.coding = coding
        self.existing = existing
        self.applies = applies
    }

    /// The request with its content compressed and its Content-Encoding set. A Content-Length field of the request is
    /// removed.
    public func compress(_ request: URLRequest) throws(CompressionFailure) -> URLRequest {
        guard let body = request.httpBody, applies(body) else { return request }
        if let encoding = request.value(forHTTPHeaderField: "Content-Encoding") {
            switch existing {
            case .fail: throw .encodedAlready(encoding)
            case .replace: break
            case .skip: return request
            }
        }
        var request = request
        let windowBits: CInt = coding == .gzip ? 31 : 15
        guard let octets = MessageDeflater.stream(of: body.span, windowBits: windowBits) else { throw .outOfMemory }
        request.httpBody = Data(octets)
        request.setValue(coding.rawValue, forHTTPHeaderField: "Content-Encoding")
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        return request
    }
}

/// Why content was not compressed.
@frozen public enum CompressionFailure: Error, Hashable, Sendable {
    /// The request names a content coding already.
    case encodedAlready(String)
    /// zlib found no memory.
    case outOfMemory
}

extension CompressionFailure: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .encodedAlready(let encoding): "the request's content is in the coding “\(encoding)” already"
        case .outOfMemory: "there is not enough memory to compress the request's content"
        }
    }
}
