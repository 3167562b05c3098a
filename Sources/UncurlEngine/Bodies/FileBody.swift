public import UncurlReactor

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
