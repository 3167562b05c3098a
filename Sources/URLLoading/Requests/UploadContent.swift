package import Foundation
internal import Synchronization
internal import UncurlClient
package import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics

/// A task's request content, ready to be sent. Most kinds can be sent again.
enum UploadContent {
    case none
    case data(Data)
    /// A stream of the program, which a separate thread reads once, a little ahead of the socket and no faster than the
    /// server accepts the content. The length is the request's own Content-Length; without one the content is chunked.
    case stream(OneStream, length: UInt64?)
    /// A file, or a form.
    case body(Content)

    /// - Throws: an error that says what is wrong with the file.
    init(_ content: ContentSource, _ request: URLRequest) throws(URLError) {
        switch content {
        case .request:
            switch request.values.body {
            case .none: self = .none
            case .data(let data): self = data.isEmpty ? .none : .data(data)
            case .stream(let stream): self = .stream(stream, for: request)
            case .content(let content): self = .body(content)
            }
        case .data(let data): self = .data(data)
        case .file(let url): self = .body(.file(try UploadContent.file(url)))
        case .stream:
            self = request.httpBodyStream.map { .stream($0, for: request) } ?? .none
        case .content(let content): self = .body(content)
        }
    }

    static func stream(_ stream: InputStream, for request: URLRequest) -> UploadContent {
        .stream(OneStream(stream), length: request.value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) })
    }

    private static func file(_ url: URL) throws(URLError) -> FileBody {
        guard url.isFileURL else {
            throw URLError(.cannotOpenFile, url, "only local files can be uploaded")
        }
        do throws(FileBody.Problem) {
            return try FileBody(path: url.path)
        } catch {
            switch error {
            case .unreadable(.noSuchFile): throw URLError(.fileDoesNotExist, url, error)
            case .unreadable(.accessDenied): throw URLError(.noPermissionsToReadFile, url, error)
            case .notRegular:
                var isFolder: ObjCBool = false
                let exists = unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                let code: URLError.Code = exists && isFolder.boolValue ? .fileIsDirectory : .cannotOpenFile
                throw URLError(code, url, error)
            case .unreadable, .outOfRange: throw URLError(.cannotOpenFile, url, error)
            }
        }
    }

    /// The octets in memory; nil for content that is read while it is sent.
    var octets: [UInt8]? {
        switch self {
        case .none: []
        case .data(let data): [UInt8](data)
        case .stream, .body: nil
        }
    }

    /// The content after this many octets.
    ///
    /// - Throws: an error where the content is shorter.
    func dropping(_ offset: Int64) throws(URLError) -> UploadContent {
        switch self {
        case .data(let data): return .data(data.dropFirst(Int(clamping: offset)))
        case .body(.file(let file)):
            guard let rest = file.dropping(UInt64(clamping: offset)) else {
                throw URLError(.cannotOpenFile, nil, "the file is shorter than its part that was sent")
            }
            return .body(.file(rest))
        case .none, .stream, .body: return self
        }
    }

    /// The length in bytes; -1 where it is unknown.
    var length: Int64 {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream(_, let length): length.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
        case .body(let body): body.length.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
        }
    }

    /// Content up to this size is sent with the head in one call. Larger content is passed on piece by piece, so it is
    /// never in memory twice.
    private static let smallData = 64 << 10

    /// Up to one thread for each stream that blocks its reader, started on demand, so that eight silent streams do not
    /// keep a ninth from being read.
    private static let streams = BlockingPool(name: "urlloading-streams", threads: 64, queue: 4096)

    var body: Content {
        switch self {
        case .none: .none
        case .data(let data) where data.count <= UploadContent.smallData: .bytes([UInt8](data))
        case .data(let data): .stream(length: UInt64(data.count), replayable: true)
        case .stream(let stream, let length):
            .threaded(ThreadedBody(length: length, pool: UploadContent.streams) { try stream.open() })
        case .body(let body): body
        }
    }

    /// The next piece of large data.
    func part(at offset: UInt64) -> BodyPart {
        guard case .data(let data) = self, offset < data.count else { return .end(trailers: nil) }
        let start = data.startIndex + Int(offset)
        return .bytes([UInt8](data[start..<min(start + UploadContent.smallData, data.endIndex)]))
    }
}

extension URLRequest {
    /// Reads the content to its end, and waits for it. For a loading class that needs all of it.
    ///
    /// - Throws: the error with which a request on the network fails if a file or a stream cannot be read, or gives
    ///   less or more than it has declared.
    package func readContent() throws(URLError) -> Data {
        do {
            return try wholeContent()
        } catch let error as EngineError {
            throw URLError(error, url)
        } catch {
            throw URLError(.bodySourceFailed(BodySourceError(error)), url)
        }
    }

    private func wholeContent() throws -> Data {
        switch values.body {
        case .none: Data()
        case .data(let data): data
        case .stream(let stream): Data(try OneStream.reader(of: stream).readToEnd())
        case .content(let content): Data(try content.read())
        }
    }
}

/// A stream of the program, which can be read once.
package final class OneStream: @unchecked Sendable {
    // `@unchecked`: the owner hands the stream over, and only the thread that takes it from the lock uses it.
    private let held: Mutex<HandedStream>
    private let identity: ObjectIdentifier

    package init(_ stream: InputStream) {
        held = Mutex(HandedStream(stream: stream))
        identity = ObjectIdentifier(stream)
    }

    /// Whether the stream can still be sent with this request: none of it has been read, and the request has no other
    /// stream.
    func isUnread(for request: URLRequest) -> Bool {
        if case .stream(let other) = request.values.body, ObjectIdentifier(other) != identity { return false }
        return unread != nil
    }

    /// Whether the stream was opened, here or elsewhere.
    var isOpen: Bool { held.withLock { $0.stream?.streamStatus != .notOpen } }

    /// The stream; nil once it has a reader.
    var unread: InputStream? { held.withLock { $0 }.stream }

    /// - Throws: ``ContentUsedUp`` for a second reader, or the stream's error if it does not open.
    package func open() throws -> any BlockingReader {
        let taken = held.withLock { held in
            defer { held = HandedStream(stream: nil) }
            return held
        }
        guard let stream = taken.stream else { throw ContentUsedUp() }
        return try OneStream.reader(of: stream)
    }

    /// Opens a stream. One that the program has opened is read on from where it stands.
    ///
    /// - Throws: ``ContentUsedUp`` for a stream that was read to its end or closed, or is being read by another reader;
    ///   the stream's error if it does not open.
    package static func reader(of stream: InputStream) throws -> any BlockingReader { try StreamReader(stream) }
}

extension Stream {
    /// The stream's own error; nil for none. Foundation's `streamError` ends the process in every status but `.error`,
    /// also for a stream that is closed.
    package var failure: (any Error)? { streamStatus == .error ? streamError : nil }
}

private final class StreamReader: BlockingReader, @unchecked Sendable {
    // `@unchecked`: read by one thread at a time, as `BlockingReader` promises.
    private let stream: InputStream

    /// The streams that have a reader: a second one would take octets from the first.
    private static let taken = Mutex<Set<ObjectIdentifier>>([])

    init(_ stream: InputStream) throws {
        let isFree = StreamReader.taken.withLock { $0.insert(ObjectIdentifier(stream)).inserted }
        guard isFree else { throw ContentUsedUp() }
        self.stream = stream
        do {
            guard stream.streamStatus != .atEnd, stream.streamStatus != .closed else { throw ContentUsedUp() }
            stream.open()
            guard stream.streamStatus != .error else {
                throw stream.failure ?? UnderlyingError("the content's stream cannot be opened")
            }
        } catch {
            release()
            throw error
        }
    }

    private func release() { _ = StreamReader.taken.withLock { $0.remove(ObjectIdentifier(stream)) } }

    func read(atMost count: Int) throws -> [UInt8] {
        let stream = stream
        var failure: (any Error)?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            guard let start = buffer.baseAddress else { return }
            let read = unsafe stream.read(start, maxLength: count)
            used = max(0, read)
            if read < 0 { failure = stream.failure ?? UnderlyingError("the content's stream failed") }
        }
        if let failure { throw failure }
        return bytes
    }

    func close() {
        stream.close()
        release()
    }
}

extension URLRequest {
    /// The URL of a task that has no request.
    static let nowhere = URL(fileURLWithPath: "/")

    /// Returns the request that a redirect leads to; nil for a target of which Foundation makes no URL.
    func following(_ redirect: Redirect) -> URLRequest? {
        guard let target = redirect.url.url else { return nil }
        var next = URLRequest(storage: RequestStorage(values))
        next.url = target
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent { next.httpBody = nil }
        return next
    }
}

extension TransferTerms {
    /// The terms as a load sends a request by them.
    var sendable: RequestTerms {
        RequestTerms(
            timeouts: { self.timeouts(idle: $0) },
            sendingRate: rates?.sending,
            receivingRate: rates?.receiving,
            endpoint: endpoint,
            proxies: proxies,
            limits: responseLimits?.parserLimits,
            redirects: responseLimits?.redirectCount
        )
    }
}
