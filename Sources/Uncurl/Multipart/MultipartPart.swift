internal import Glibc
internal import URLLoading
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor

/// A part as it is sent. Its file has been opened.
struct MultipartPart: Sendable {
    /// The name of the part in errors.
    let label: String
    /// The header fields, each with its line end.
    let head: String
    let content: Content

    init(label: String, head: String, content: MultipartContent) throws(MultipartFailure) {
        self.label = label
        self.head = head
        self.content =
            switch content.kind {
            case .bytes(let bytes): .bytes(bytes)
            case .file(let url): .file(try MultipartPart.file(url))
            case .stream(let source):
                .threaded(
                    ThreadedBody(length: source.length, replayable: source.isReplayable) {
                        try MultipartStreamReader(label, source)
                    }
                )
            }
    }

    var length: UInt64? { content.length }

    // MARK: Fields

    static func check(_ name: String, _ value: String) throws(MultipartFailure) {
        var fields = HTTPFields()
        do throws(HTTP1Error) {
            try fields.append(name, value)
        } catch {
            throw .invalidField(name: name, value: value)
        }
    }

    // MARK: Files

    private static func file(_ url: URL) throws(MultipartFailure) -> FileBody {
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
