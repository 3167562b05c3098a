package import Foundation
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// A task's request content, ready to be sent. Most kinds can be sent again.
enum UploadContent {
    case none
    case data(Data)
    /// A stream that a separate thread reads once.
    case stream(StreamContent)
    /// A file, or a form.
    case body(Content)

    /// - Throws: an error that says what is wrong with the file.
    init(_ content: ContentSource, _ request: URLRequest, stream: InputStream? = nil) throws(URLError) {
        switch content {
        case .request:
            switch request.values.body {
            case .none: self = .none
            case .data(let data): self = data.isEmpty ? .none : .data(data)
            case .stream(let own): self = .stream(StreamContent(stream ?? own, request))
            case .content(let content): self = .body(content)
            }
        case .data(let data): self = .data(data)
        case .file(let url): self = .body(.file(try UploadContent.file(url)))
        case .stream:
            guard let stream = stream ?? request.httpBodyStream else {
                self = .none
                return
            }
            self = .stream(StreamContent(stream, request))
        case .content(let content): self = .body(content)
        }
    }

    private static func file(_ url: URL) throws(URLError) -> FileBody {
        guard url.isFileURL else {
            throw ErrorTranslation.urlError(.cannotOpenFile, url, "only local files can be uploaded")
        }
        do throws(FileBody.Problem) {
            return try FileBody(path: url.path)
        } catch {
            switch error {
            case .unreadable(.noSuchFile): throw ErrorTranslation.urlError(.fileDoesNotExist, url, error)
            case .unreadable(.accessDenied): throw ErrorTranslation.urlError(.noPermissionsToReadFile, url, error)
            case .notRegular:
                var isFolder: ObjCBool = false
                let exists = unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                let code: URLError.Code = exists && isFolder.boolValue ? .fileIsDirectory : .cannotOpenFile
                throw ErrorTranslation.urlError(code, url, error)
            case .unreadable, .outOfRange: throw ErrorTranslation.urlError(.cannotOpenFile, url, error)
            }
        }
    }

    var isEmpty: Bool {
        if case .none = self { true } else { false }
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
                throw ErrorTranslation.urlError(.cannotOpenFile, nil, "the file is shorter than its part that was sent")
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
        case .stream(let stream): stream.length.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
        case .body(let body): body.length.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
        }
    }

    /// Content up to this size is sent with the head in one call. Larger content is passed on piece by piece, so it is
    /// never in memory twice.
    private static let smallData = 64 << 10

    var body: Content {
        switch self {
        case .none: .none
        case .data(let data) where data.count <= UploadContent.smallData: .bytes([UInt8](data))
        case .data(let data): .stream(length: UInt64(data.count), replayable: true)
        case .stream(let stream): .threaded(stream.body)
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

/// The hash of a file that is sent, for a server that protects content (`auth-int`, RFC 7616 §3.4.3).
struct FileDigest: Sendable {
    private let file: FileBody
    private let function: MessageDigest

    /// Nil where the next request needs no hash.
    init?(of content: UploadContent, for machine: borrowing AnswerMachine) {
        guard case .body(.file(let file)) = content, let function = machine.contentDigest else { return nil }
        self.file = file
        self.function = function
    }

    /// Reads the file piece by piece, which blocks on the disk. Nil where it cannot be read to its end or is no longer
    /// needed.
    func compute(while isWanted: () -> Bool) -> [UInt8]? {
        guard let open = try? file.open(), var digest = RunningDigest(function) else { return nil }
        var position = file.offset
        let end = file.offset + file.length
        while position < end {
            let wanted = Int(min(FileDigest.pieceSize, end - position))
            guard isWanted(), let piece = try? open.read(at: position, atMost: wanted), !piece.isEmpty,
                digest.add(piece.span)
            else { return nil }
            position += UInt64(piece.count)
        }
        return digest.finish()
    }

    /// The most bytes of a file in memory at a time.
    private static let pieceSize: UInt64 = 1 << 20
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
            throw ErrorTranslation.error(error, url)
        } catch {
            throw ErrorTranslation.error(.bodySourceFailed(BodySourceError(error)), url)
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
