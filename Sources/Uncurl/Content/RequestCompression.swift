internal import CUncurlZlib
public import URLLoading

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
        request.httpBody = try coding.compressed(body)
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

/// Compresses data with zlib in one call. zlib's pointers do not leave this extension.
extension RequestCompression.Coding {
    private static let step = 64 << 10

    fileprivate func compressed(_ data: Data) throws(CompressionFailure) -> Data {
        // zlib keeps the address of its stream.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        defer { unsafe stream.deallocate() }
        guard unsafe uncurl_deflateInit2(stream, Z_DEFAULT_COMPRESSION, windowBits) == Z_OK else {
            throw .outOfMemory
        }
        defer { unsafe deflateEnd(stream) }
        var output = Data()
        var input = data[...]
        while true {
            // zlib counts in 32 bits.
            let piece = input.prefix(Int(Int32.max))
            input = input.dropFirst(piece.count)
            let isLast = input.isEmpty
            unsafe piece.withUnsafeBytes { bytes in
                let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
                unsafe stream.pointee.avail_in = uInt(bytes.count)
                unsafe Self.drain(stream, isLast ? Z_FINISH : Z_NO_FLUSH, into: &output)
            }
            if isLast { return output }
        }
    }

    /// Calls zlib until it leaves room in its output: then it has read all of its input and written all it has.
    private static func drain(_ stream: UnsafeMutablePointer<z_stream>, _ flush: CInt, into output: inout Data) {
        var isFull = true
        while isFull {
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: step) { buffer, count in
                unsafe stream.pointee.next_out = buffer.baseAddress
                unsafe stream.pointee.avail_out = uInt(step)
                _ = unsafe CUncurlZlib.deflate(stream, flush)
                count = unsafe step - Int(stream.pointee.avail_out)
            }
            output.append(contentsOf: bytes)
            isFull = bytes.count == step
        }
    }

    private var windowBits: CInt {
        switch self {
        case .deflate: 15
        case .gzip: 15 + 16
        }
    }
}
