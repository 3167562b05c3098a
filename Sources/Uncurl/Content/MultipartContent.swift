internal import Synchronization
public import URLLoading
internal import UncurlEngine

/// The content of one part of a form.
public struct MultipartContent: Sendable {
    enum Kind: Sendable {
        case bytes([UInt8])
        case file(URL)
        case stream(length: UInt64?, isReplayable: Bool, open: @Sendable () throws -> any BlockingReader)
    }

    let kind: Kind

    /// Text in UTF-8. Line ends are kept.
    public static func text(_ text: String) -> MultipartContent { MultipartContent(kind: .bytes(Array(text.utf8))) }

    /// Bytes in memory.
    public static func data(_ data: Data) -> MultipartContent { MultipartContent(kind: .bytes([UInt8](data))) }

    /// A regular local file. The file is opened when it is appended to the form. When the form is sent, the file is
    /// read up to the size that it had when it was appended. A shorter file, or another file under its name, is an
    /// error.
    public static func file(_ url: URL) -> MultipartContent { MultipartContent(kind: .file(url)) }

    /// A stream that can be read again: each attempt opens a new one.
    ///
    /// - Parameters:
    ///   - length: in bytes, if it is known; without it the form is sent in chunks. A stream with more or fewer bytes
    ///     fails the request before the server can take the form for complete.
    ///   - opening: called on a thread that may block, as are the stream's reads.
    public static func stream(
        length: UInt64? = nil,
        opening: @escaping @Sendable () throws -> InputStream
    ) -> MultipartContent {
        MultipartContent(
            kind: .stream(length: length, isReplayable: true, open: { try OneStream.reader(of: try opening()) })
        )
    }

    /// A stream that can be read once. If it must be sent again after a redirect, a challenge or a lost connection, the
    /// form fails with ``MultipartFailure/notReplayable``.
    public static func stream(_ stream: sending InputStream, length: UInt64? = nil) -> MultipartContent {
        let stream = OneStream(stream)
        return MultipartContent(kind: .stream(length: length, isReplayable: false, open: { try stream.open() }))
    }
}

extension MultipartForm {
    /// The request with this form as its content, for any task of any session. The form's Content-Type replaces the
    /// request's, and the content length follows from the form.
    public func request(from request: URLRequest) throws(MultipartFailure) -> URLRequest {
        let method = request.httpMethod ?? "GET"
        guard method != "GET", method != "HEAD" else { throw .methodWithoutContent(method) }
        var request = request
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        let content = content
        guard content.isSendable else { throw .tooLong }
        request.content = content
        return request
    }
}

extension URLRequest {
    /// Whether the content of this request can be sent again.
    var isReplayable: Bool { httpBodyStream == nil && content?.isReplayable ?? true }
}

/// Reads a stream while it is sent. The stream must have its declared length. Errors name the stream's part.
final class MultipartStreamReader: BlockingReader {
    private let part: String
    private let declared: UInt64?
    private let reader: any BlockingReader
    private let given = Mutex<UInt64>(0)

    init(_ part: String, _ length: UInt64?, _ open: () throws -> any BlockingReader) throws {
        self.part = part
        declared = length
        do {
            reader = try open()
        } catch let error as ContentUsedUp {
            throw error
        } catch {
            throw MultipartFailure.streamUnopenable(part: part, reason: "\(error)")
        }
    }

    func read(atMost count: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try reader.read(atMost: count)
        } catch {
            throw MultipartFailure.streamFailed(part: part, reason: "\(error)")
        }
        let sum = given.withLock { given in
            given &+= UInt64(bytes.count)
            return given
        }
        guard let declared, bytes.isEmpty ? sum != declared : sum > declared else { return bytes }
        throw MultipartFailure.lengthMismatch(part: part, declared: declared, given: sum)
    }

    func close() { reader.close() }

    func interrupt() { reader.interrupt() }
}

extension URLSession {
    /// Sends a form and waits for the answer.
    ///
    /// - Parameters:
    ///   - request: a request whose method allows content. The form's Content-Type replaces its own.
    ///   - form: sent as `multipart/form-data`.
    ///   - delegate: the task's own delegate. It learns of bytes when the socket accepts them.
    /// - Throws: ``MultipartFailure`` for an error of the form, `URLError` otherwise.
    public func upload(
        for request: URLRequest,
        multipart form: MultipartForm,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let request = try form.request(from: request)
        do {
            return try await upload(for: request, delegate: delegate)
        } catch let error as URLError {
            throw MultipartFailure(error) as (any Error)? ?? error
        }
    }

    /// A task that sends a form and reports the answer to the delegate.
    public func uploadTask(
        with request: URLRequest,
        multipart form: MultipartForm
    ) throws(MultipartFailure) -> URLSessionUploadTask {
        uploadTask(withStreamedRequest: try form.request(from: request))
    }

    /// A task that sends a form and passes the whole answer to the handler, on the delegate queue. An error of the form
    /// is a ``MultipartFailure``.
    public func uploadTask(
        with request: URLRequest,
        multipart form: MultipartForm,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) throws(MultipartFailure) -> URLSessionUploadTask {
        uploadTask(with: try form.request(from: request), from: nil) { data, response, error in
            let failure = (error as? URLError).flatMap { MultipartFailure($0) }
            completionHandler(data, response, failure ?? error)
        }
    }
}
