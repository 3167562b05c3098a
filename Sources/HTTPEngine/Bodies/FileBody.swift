public import Reactor

/// A regular file, or a range of one, as a request's content. Its length is fixed here: what is appended to the file
/// later is not sent, and a file that has become shorter fails the exchange with
/// ``EngineError/bodyLengthMismatch(declared:given:)`` and a reset, so that the server cannot take the part for the
/// whole.
public struct FileBody: Sendable {
    /// Why a file is no body.
    public enum Problem: Error, Hashable, Sendable {
        /// The file cannot be opened.
        case unreadable(Errno)
        /// A directory, a pipe, a device: what may wait belongs on a thread (``ThreadedBody``).
        case notRegular
        /// The range ends behind the file's end.
        case outOfRange(size: UInt64)
    }

    private enum Source: Sendable {
        /// Opened again for each sending: a form of a thousand files holds no thousand descriptors.
        case path(String, OpenFile.Identity)
        case open(OpenFile)
    }

    private let source: Source
    /// Where in the file the content begins.
    public let offset: UInt64
    /// Bytes of the file that are sent.
    public let length: UInt64

    /// Looks at the file now, and opens it each time it is sent; a different file under the same name fails the
    /// exchange with ``EngineError/bodyFileReplaced``.
    ///
    /// - Parameters:
    ///   - path: of a regular file.
    ///   - range: in bytes; the whole file without.
    public init(path: String, range: Range<UInt64>? = nil) throws(Problem) {
        let file = try FileBody.opening { () throws(OpenFile.Problem) in try OpenFile(path: path) }
        try self.init(.path(path, file.status.identity), file, range)
    }

    /// - Parameters:
    ///   - descriptor: duplicated, and the caller's to close. Its position plays no part.
    ///   - range: in bytes; the whole file without.
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

    /// For one sending. Called on the loop, as the reads that follow are: reads of files in the page cache do not wait.
    package func open() throws(EngineError) -> OpenFile {
        switch source {
        case .open(let file):
            return file
        case .path(let path, let identity):
            let file: OpenFile
            do throws(OpenFile.Problem) {
                file = try OpenFile(path: path)
            } catch .system(let error) {
                throw .bodyUnreadable(error)
            } catch {
                throw .bodyFileReplaced
            }
            guard file.status.identity == identity else { throw .bodyFileReplaced }
            return file
        }
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
        case .outOfRange(let size): "the range ends behind the file’s \(size) bytes"
        }
    }
}
