internal import UncurlHTTP1
public import UncurlReactor

/// The progress of one sending of content that is read while it is sent. It holds one file open, or one thread busy, at
/// a time. A part that gives less or more than it has declared fails before it could break the framing: a body of
/// another length must never look like a whole message (RFC 9112 §6.3, HTTP desync).
final class BodyReader {
    enum Next {
        /// The middle one is content; each of them may be empty.
        case send(before: [UInt8], content: [UInt8], after: [UInt8])
        /// That many bytes of a file, from that offset on.
        case file(OpenFile, offset: UInt64, count: UInt64)
        /// Nothing: ``next(asking:)`` is to be called again.
        case again
        /// Nothing yet: ``wake`` will be called, or the delegate says when it has more.
        case later
        /// The body is complete with these bytes.
        case end([UInt8])
    }

    /// The part that is being sent.
    private enum Current {
        case nothing
        case file(OpenFile, offset: UInt64, left: UInt64)
        case threaded(BodyPipe)
        case asked
    }

    /// The length of a file's chunk: what `sendfile` takes in a turn.
    private static let chunk = UInt64(FileBody.slice)

    private let length: UInt64?
    private let parts: [Content]
    private let wake: @Sendable () -> Void
    /// The line end of the last chunk, if the chunk was sent without it: it is sent with what follows.
    private var owed: [UInt8] = []
    private var index = 0
    private var current = Current.nothing
    private var given: UInt64 = 0
    /// The length that the current part has declared, and how much it has given.
    private var declared: UInt64?
    private var partGiven: UInt64 = 0
    /// How many bytes of a file the chunk's header has announced and that have not been given yet.
    private var chunkLeft: UInt64 = 0

    /// - Parameter wake: called on any thread when bytes are there that ``next(asking:)`` has waited for.
    init(_ body: Content, wake: @escaping @Sendable () -> Void) {
        length = body.length
        parts = body.parts
        self.wake = wake
    }

    deinit {
        if case .threaded(let pipe) = current { pipe.abandon() }
    }

    /// Whether the content is framed in chunks (RFC 9112 §7.1), since its length is not known.
    private var isChunked: Bool { length == nil }

    /// Returns what is sent next. Bytes in memory count as given with this call; for a file, ``advance(_:)`` counts
    /// them.
    ///
    /// - Parameter ask: gets a stream's next bytes, from an offset on.
    func next(asking ask: (UInt64) -> BodyPart) throws(EngineError) -> Next {
        while true {
            switch current {
            case .nothing:
                guard index < parts.count else { return .end(try end()) }
                let bytes = try begin(parts[index])
                index += 1
                if let bytes { return frame(bytes) }
            case .file(let file, let offset, let left):
                if left == 0 {
                    current = .nothing
                } else if isChunked, chunkLeft == 0 {
                    chunkLeft = min(left, BodyReader.chunk)
                    return .send(before: beginChunk(Int(chunkLeft)), content: [], after: [])
                } else {
                    return .file(file, offset: offset, count: isChunked ? chunkLeft : left)
                }
            case .threaded(let pipe):
                switch try taken(from: pipe) {
                case .bytes(let bytes): return try take(bytes)
                case .later: return .later
                case .end: try endPart()
                case .failed: throw .bodyFailed
                }
            case .asked:
                switch ask(partGiven) {
                // An empty chunk would end the body (RFC 9112 §7.1).
                case .bytes(let bytes): return bytes.isEmpty ? .again : try take(bytes)
                case .later: return .later
                case .end(let trailers):
                    try endPart()
                    return .end(try end(trailers: trailers ?? HTTPFields()))
                case .failed: throw .bodyFailed
                }
            }
        }
    }

    /// Notes that `count` more bytes of the current file were given; 0 means that the file has become shorter.
    func advance(_ count: Int) throws(EngineError) {
        guard case .file(let file, let offset, let left) = current else { return }
        guard count > 0 else { throw .bodyLengthMismatch(declared: length ?? given + left, given: given) }
        let step = min(UInt64(count), left)
        given += step
        current = .file(file, offset: offset + step, left: left - step)
        guard isChunked else { return }
        chunkLeft -= min(step, chunkLeft)
        if chunkLeft == 0 { MessageSerializer.appendChunkEnd(to: &owed) }
    }

    /// Begins a part. Returns its bytes if they are in memory. Empty parts are skipped.
    private func begin(_ part: Content) throws(EngineError) -> [UInt8]? {
        (declared, partGiven) = (part.length, 0)
        switch part {
        case .none, .parts: break
        case .bytes(let bytes): return bytes.isEmpty ? nil : bytes
        case .file(let file):
            if file.length > 0 { current = .file(try file.open(), offset: file.offset, left: file.length) }
        case .threaded(let body): current = .threaded(BodyPipe(body, wake: wake))
        case .stream: current = .asked
        }
        return nil
    }

    /// Takes bytes of a part whose length is known only from what it declares.
    private func take(_ bytes: [UInt8]) throws(EngineError) -> Next {
        let (sum, overflow) = partGiven.addingReportingOverflow(UInt64(bytes.count))
        if let declared, overflow || sum > declared { throw .bodyLengthMismatch(declared: declared, given: sum) }
        partGiven = sum
        return frame(bytes)
    }

    private func endPart() throws(EngineError) {
        if let declared, partGiven != declared { throw .bodyLengthMismatch(declared: declared, given: partGiven) }
        current = .nothing
    }

    private func taken(from pipe: BodyPipe) throws(EngineError) -> BodyPart {
        do throws(BodySourceError) { return try pipe.take() } catch { throw .bodySourceFailed(error) }
    }

    // MARK: Framing

    /// Frames bytes, of which there is at least one: an empty chunk would end the body.
    private func frame(_ bytes: [UInt8]) -> Next {
        given += UInt64(bytes.count)
        guard isChunked else { return .send(before: [], content: bytes, after: []) }
        let before = beginChunk(bytes.count)
        var after: [UInt8] = []
        MessageSerializer.appendChunkEnd(to: &after)
        return .send(before: before, content: bytes, after: after)
    }

    private func beginChunk(_ count: Int) -> [UInt8] {
        var line: [UInt8] = []
        swap(&line, &owed)
        MessageSerializer.appendChunkHeader(count: count, to: &line)
        return line
    }

    private func end(trailers: HTTPFields = HTTPFields()) throws(EngineError) -> [UInt8] {
        guard isChunked else { return [] }
        var bytes: [UInt8] = []
        swap(&bytes, &owed)
        do throws(HTTP1Error) {
            try MessageSerializer.appendLastChunk(trailers: trailers, to: &bytes)
        } catch {
            throw .invalidRequest(.syntax(error))
        }
        return bytes
    }
}

/// A regular file, or a range of one, as a request's content. Its length is fixed here: bytes that are appended to the
/// file later are not sent, and a file that has become shorter fails the exchange with
/// ``EngineError/bodyLengthMismatch(declared:given:)`` and a reset, so that the server cannot take the part for the
/// whole.
public struct FileBody: Sendable {
    /// The reason why a file cannot be a body.
    public enum Problem: Error, Hashable, Sendable {
        /// The file cannot be opened.
        case unreadable(Errno)
        /// It is a directory, a pipe or a device: what may block must be read on a thread (``ThreadedBody``).
        case notRegular
        /// The range ends after the file's end.
        case outOfRange(size: UInt64)
    }

    private enum Source: Sendable {
        /// The file is opened again for each sending, so a form of a thousand files does not hold a thousand
        /// descriptors.
        ///
        /// The file must still have the size; any size will do for nil.
        case path(String, OpenFile.Identity, size: UInt64?)
        case open(OpenFile)
    }

    /// Bytes that `sendfile` takes in a turn.
    static let slice = 1 << 20
    /// Bytes of one read if a file is read into memory: sixteen of these are a turn's amount.
    static let bite = 64 << 10

    private let source: Source
    /// The offset in the file at which the content begins.
    public let offset: UInt64
    /// How many bytes of the file are sent.
    public let length: UInt64

    /// Checks the file now, and opens it each time it is sent. A different file under the same name fails the exchange
    /// with ``EngineError/bodyFileReplaced``.
    ///
    /// - Parameters:
    ///   - path: the path of a regular file.
    ///   - range: in bytes; nil for the whole file.
    public init(path: String, range: Range<UInt64>? = nil) throws(Problem) {
        let file = try FileBody.opening { () throws(OpenFile.Problem) in try OpenFile(path: path) }
        try self.init(.path(path, file.status.identity, size: nil), file, range)
    }

    /// Makes a body of a whole file that must keep its length: a file that has become longer fails the exchange with
    /// ``EngineError/bodyFileReplaced`` too, since what would be sent of it is cut.
    package init(unchangingPath path: String) throws(Problem) {
        let file = try FileBody.opening { () throws(OpenFile.Problem) in try OpenFile(path: path) }
        try self.init(.path(path, file.status.identity, size: file.status.size), file, nil)
    }

    /// Makes a body of an open file.
    ///
    /// - Parameters:
    ///   - descriptor: it is duplicated, and the caller closes it. Its position is ignored.
    ///   - range: in bytes; nil for the whole file.
    public init(descriptor: CInt, range: Range<UInt64>? = nil) throws(Problem) {
        let file = try FileBody.opening { () throws(OpenFile.Problem) in try OpenFile(duplicating: descriptor) }
        try self.init(.open(file), file, range)
    }

    private init(_ source: Source, _ file: OpenFile, _ range: Range<UInt64>?) throws(Problem) {
        let size = file.status.size
        let range = range ?? 0..<size
        guard range.upperBound <= size else { throw .outOfRange(size: size) }
        self.source = source
        offset = range.lowerBound
        length = range.upperBound - range.lowerBound
    }

    private init(_ source: Source, _ offset: UInt64, _ length: UInt64) {
        self.source = source
        self.offset = offset
        self.length = length
    }

    /// The file's name; nil for a file that was given as a descriptor.
    package var path: String? {
        if case .path(let path, _, _) = source { path } else { nil }
    }

    /// Returns the file's content from an offset on; nil if the file ends before it.
    package func dropping(_ count: UInt64) -> FileBody? {
        count <= length ? FileBody(source, offset + count, length - count) : nil
    }

    /// Opens the file for one sending. It is opened and read on the loop, since reads from the page cache do not wait.
    package func open() throws(EngineError) -> OpenFile {
        switch source {
        case .open(let file):
            return file
        case .path(let path, let identity, let size):
            let file: OpenFile
            do throws(OpenFile.Problem) {
                file = try OpenFile(path: path)
            } catch .system(let error) {
                throw .bodyUnreadable(error)
            } catch {
                throw .bodyFileReplaced
            }
            // A shorter file fails when it is sent: the error says how much is missing.
            let isLonger = size.map { file.status.size > $0 } ?? false
            guard file.status.identity == identity, !isLonger else { throw .bodyFileReplaced }
            return file
        }
    }

    /// Reads all of it, and waits for it. Shorter than ``length`` if the file has become shorter.
    func read() throws -> [UInt8] {
        let file = try open()
        var content: [UInt8] = []
        while content.count < length {
            let left = Int(clamping: length) - content.count
            let bytes = try file.read(at: offset + UInt64(content.count), atMost: min(left, FileBody.bite))
            guard !bytes.isEmpty else { break }
            content += bytes
        }
        return content
    }

    private static func opening(_ open: () throws(OpenFile.Problem) -> OpenFile) throws(Problem) -> OpenFile {
        do throws(OpenFile.Problem) {
            return try open()
        } catch .system(let error) {
            throw .unreadable(error)
        } catch {
            throw .notRegular
        }
    }
}

extension FileBody.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let error): "the file cannot be read: \(error)"
        case .notRegular: "not a regular file"
        case .outOfRange(let size): "the range ends after the file’s \(size) bytes"
        }
    }
}
