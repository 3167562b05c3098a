internal import Synchronization
public import URLLoading
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlText

/// A form of several parts (RFC 7578), sent while it is read: files from the disk to the socket, streams from a thread.
/// Neither is loaded into memory as a whole.
///
/// ```swift
/// var form = MultipartForm()
/// try form.append(.text("holiday"), name: "title")
/// try form.append(.file(photo), name: "photo")
/// let (answer, response) = try await session.upload(for: request, multipart: form)
/// ```
/// The form is a value: copies have the same boundary, and can be sent at the same time if ``isReplayable``. A form
/// without parts is only a closing boundary, as browsers send it.
public struct MultipartForm: Sendable {
    /// What separates the parts (RFC 2046 §5.1.1).
    public var boundary: String { layout.boundary }
    private let layout: MultipartLayout
    /// Each part as it is sent: its header fields, each with its line end, and its content. Its file has been opened.
    private var parts: [(head: String, content: Content)] = []
    /// The sum of the known lengths of the parts, in bytes.
    private var knownLength: UInt64 = 0

    /// A form with the boundary `Boundary+` and sixteen random digits.
    public init() { layout = MultipartLayout() }

    /// A form with a given boundary. The caller must make sure that no part contains it.
    public init(boundary: String) throws(MultipartFailure) {
        guard let layout = MultipartLayout(boundary: boundary) else { throw .invalidBoundary(boundary) }
        self.layout = layout
    }

    // MARK: Parts

    /// Appends a field of the form. Names are written as browsers write them: UTF-8 as it is, with `"`, CR and LF as
    /// `%22`, `%0D` and `%0A`.
    ///
    /// - Parameters:
    ///   - content: what the part holds.
    ///   - name: the name of the field.
    ///   - fileName: the default for a file is the last component of its path; any other content has none by default.
    ///   - contentType: the default for a file follows from the suffix of its name; any other content has none by
    ///     default.
    /// - Throws: ``MultipartFailure``, also for a file that cannot be sent: it is opened now.
    public mutating func append(
        _ content: MultipartContent,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartFailure) {
        var (fileName, contentType) = (fileName, contentType)
        if let url = content.file {
            fileName = fileName ?? url.lastPathComponent
            contentType = contentType ?? URLResponse.mimeType(ofPath: url.path)
        }
        if let contentType { try Self.check("Content-Type", contentType) }
        let head = MultipartLayout.fields(
            name: try Self.escaped(name),
            fileName: try fileName.map { name throws(MultipartFailure) in try Self.escaped(name) },
            contentType: contentType
        )
        try append((head, content.opened(name)))
    }

    private static func check(_ name: String, _ value: String) throws(MultipartFailure) {
        var fields = HTTPFields()
        do throws(HTTP1Error) {
            try fields.append(name, value)
        } catch {
            throw .invalidField(name: name, value: value)
        }
    }

    private static func escaped(_ name: String) throws(MultipartFailure) -> String {
        guard let escaped = MultipartLayout.escaped(name) else { throw .nulInName(name) }
        return escaped
    }

    /// Appends a part with exactly these header fields, in their order.
    public mutating func append(
        _ content: MultipartContent,
        headers: [(name: String, value: String)]
    ) throws(MultipartFailure) {
        var head = ""
        for (name, value) in headers {
            try Self.check(name, value)
            head += "\(name): \(value)\r\n"
        }
        try append((head, content.opened(headers.first?.value ?? "")))
    }

    /// Appends a field for each pair, in their order, such as the flattened parameters of a request.
    public mutating func append(fields: [(name: String, value: Data)]) throws(MultipartFailure) {
        for field in fields { try append(.data(field.value), name: field.name) }
    }

    /// Appends the parts of another form.
    public mutating func append(partsOf other: MultipartForm) throws(MultipartFailure) {
        for part in other.parts { try append(part) }
    }

    private mutating func append(_ part: (head: String, content: Content)) throws(MultipartFailure) {
        let length = part.content.length ?? 0
        let framing = opening(part.head, isFirst: parts.isEmpty).count
        // Room for the closing boundary.
        let left = UInt64(Int64.max) - 1024 - knownLength
        guard length <= left, UInt64(framing) <= left - length else { throw .tooLong }
        knownLength += length + UInt64(framing)
        parts.append(part)
    }

    /// Whether the form has no part.
    public var isEmpty: Bool { parts.isEmpty }
    /// The number of parts.
    public var count: Int { parts.count }

    // MARK: As a whole

    /// The value of the request's Content-Type field.
    public var contentType: String { layout.contentType }

    /// The length in bytes, boundaries included. Nil where a stream declares no length: then the form is sent in
    /// chunks.
    public var contentLength: UInt64? {
        parts.allSatisfy { $0.content.length != nil } ? knownLength + UInt64(closing.count) : nil
    }

    /// Whether the form can be sent again after a redirect or a challenge: no part is a stream that can be read once
    /// only.
    public var isReplayable: Bool {
        parts.allSatisfy { $0.content.isReplayable }
    }

    // MARK: Layout

    private func opening(_ head: String, isFirst: Bool) -> [UInt8] {
        layout.opening(fields: head, isFirst: isFirst)
    }

    private var closing: [UInt8] { layout.closing(isEmpty: parts.isEmpty) }

    /// Content up to this size, in bytes, is sent together with the boundaries around it.
    private static let smallContent = 64 << 10

    /// The form in order, for the engine: files go from the disk to the socket, and streams are read on threads that
    /// may block. Boundaries and small content are sent together, each file and each stream by itself.
    var content: Content {
        var content: [Content] = []
        var bytes: [UInt8] = []
        func flush() {
            if !bytes.isEmpty { content.append(.bytes(bytes)) }
            bytes = []
        }
        for (index, part) in parts.enumerated() {
            bytes += opening(part.head, isFirst: index == 0)
            switch part.content {
            case .bytes(let small) where bytes.count + small.count <= MultipartForm.smallContent:
                bytes += small
            default:
                flush()
                content.append(part.content)
            }
        }
        bytes += closing
        flush()
        return .parts(content)
    }
}

extension MultipartForm {
    /// Encodes the form in memory. Blocks while files and streams are read.
    ///
    /// - Parameter limit: the most bytes of the encoded form, which is as long as its files.
    public func encoded(limit: Int = 10_000_000) throws(MultipartFailure) -> Data {
        if let length = contentLength, length > UInt64(max(0, limit)) { throw .overLimit(limit) }
        let reader = MultipartReader(self)
        var data = Data()
        while true {
            let bytes = try reader.read(atMost: MultipartForm.bite)
            guard !bytes.isEmpty else { return data }
            guard data.count + bytes.count <= limit else { throw .overLimit(limit) }
            data.append(contentsOf: bytes)
        }
    }

    /// Writes the form to a new file, on a thread that may block. An existing file is an error and is left as it is. A
    /// file that could not be written completely, or whose writing was cancelled, is removed.
    ///
    /// - Throws: ``MultipartFailure``, or `CancellationError`.
    public func write(to url: URL) async throws {
        try await write(to: url) { path throws(Errno) in
            let file = try WritableFile(creating: path)
            return (
                write: { bytes throws(Errno) in try file.write(bytes.span) },
                finish: { () throws(Errno) in try file.checkWrites() }
            )
        }
    }

    private static let bite = 64 << 10

    /// - Parameter making: opens the new file. Tests pass a file on a disk that fails.
    func write(
        to url: URL,
        making: @escaping @Sendable (String) throws(Errno) -> MultipartOutput
    ) async throws {
        guard url.isFileURL, !url.path.isEmpty else { throw MultipartFailure.outputNotFileURL(url) }
        let isCancelled = Atomic(false)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do {
                    try ThreadedBody.sharedPool.run {
                        continuation.resume(
                            with: Result { try write(url, making) { isCancelled.load(ordering: .relaxed) } }
                        )
                    }
                } catch {
                    continuation.resume(throwing: MultipartFailure.outputFailed(url, reason: "\(error)"))
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func write(
        _ url: URL,
        _ making: (String) throws(Errno) -> MultipartOutput,
        _ isCancelled: () -> Bool
    ) throws {
        let output: MultipartOutput
        do throws(Errno) {
            output = try making(url.path)
        } catch {
            throw error.code == EEXIST
                ? MultipartFailure.outputExists(url) : .outputFailed(url, reason: "\(error)")
        }
        do {
            let reader = MultipartReader(self)
            while true {
                if isCancelled() { throw CancellationError() }
                let bytes = try reader.read(atMost: MultipartForm.bite)
                guard !bytes.isEmpty else { return try output.finish() }
                try output.write(bytes)
            }
        } catch {
            WritableFile.remove(url.path)
            throw (error as? Errno).map { MultipartFailure.outputFailed(url, reason: "\($0)") } ?? error
        }
    }
}

extension MultipartForm: CustomStringConvertible {
    public var description: String { described(Self.self, ["parts": parts.count, "bytes": contentLength]) }
}

/// The file that a form is written to.
typealias MultipartOutput = (write: ([UInt8]) throws(Errno) -> Void, finish: () throws(Errno) -> Void)

/// The content of one part of a form.
public struct MultipartContent: Sendable {
    /// The file whose name and type are the usual ones of the part; nil for other content.
    let file: URL?
    /// Opens a file. The name of the part is for the errors of a stream.
    let opened: @Sendable (_ part: String) throws(MultipartFailure) -> Content

    private init(file: URL? = nil, _ opened: @escaping @Sendable (String) throws(MultipartFailure) -> Content) {
        (self.file, self.opened) = (file, opened)
    }

    /// Text in UTF-8. Line ends are kept.
    public static func text(_ text: String) -> MultipartContent {
        let bytes = Array(text.utf8)
        return MultipartContent { _ in .bytes(bytes) }
    }

    /// Bytes in memory.
    public static func data(_ data: Data) -> MultipartContent {
        let bytes = [UInt8](data)
        return MultipartContent { _ in .bytes(bytes) }
    }

    /// A regular local file. The file is opened when it is appended to the form. When the form is sent, the file is
    /// read up to the size that it had when it was appended. A shorter file, or another file under its name, is an
    /// error.
    public static func file(_ url: URL) -> MultipartContent {
        MultipartContent(file: url) { _ throws(MultipartFailure) in .file(try body(of: url)) }
    }

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
        stream(length, replayable: true) { try OneStream.reader(of: try opening()) }
    }

    /// A stream that can be read once. If it must be sent again after a redirect, a challenge or a lost connection, the
    /// form fails with ``MultipartFailure/notReplayable``.
    public static func stream(_ stream: sending InputStream, length: UInt64? = nil) -> MultipartContent {
        let stream = OneStream(stream)
        return Self.stream(length, replayable: false) { try stream.open() }
    }

    private static func stream(
        _ length: UInt64?,
        replayable: Bool,
        _ open: @escaping @Sendable () throws -> any BlockingReader
    ) -> MultipartContent {
        MultipartContent { part in
            .threaded(
                ThreadedBody(length: length, replayable: replayable) { try MultipartStreamReader(part, length, open) }
            )
        }
    }

    private static func body(of url: URL) throws(MultipartFailure) -> FileBody {
        guard url.isFileURL, !url.path.isEmpty else { throw .notFileURL(url) }
        var status = stat()
        guard unsafe stat(url.path, &status) == 0 else { throw .fileUnreachable(url, reason: systemReason()) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .fileIsDirectory(url)
        default: throw .fileNotRegular(url)
        }
        do throws(FileBody.Problem) {
            let file = try FileBody(unchangingPath: url.path)
            try checkSize(of: file, url)
            return file
        } catch {
            switch error {
            case .unreadable(let reason): throw .fileUnreadable(url, reason: "\(reason)")
            case .notRegular: throw .fileNotRegular(url)
            case .outOfRange: throw .fileSizeUnknown(url)
            }
        }
    }

    /// A file of /proc has content although it reports a size of zero.
    private static func checkSize(of file: FileBody, _ url: URL) throws(FileBody.Problem) {
        guard file.length == 0 else { return }
        let isEmpty: Bool
        do {
            isEmpty = try file.open().read(at: 0, atMost: 1).isEmpty
        } catch {
            isEmpty = true
        }
        guard isEmpty else { throw .outOfRange(size: 0) }
    }

    private static func systemReason() -> String { unsafe String(cString: strerror(errno)) }
}

extension MultipartContent: CustomStringConvertible {
    public var description: String { described(Self.self, ["file": file?.path]) }
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
