internal import Dispatch
internal import Foundation
internal import UncurlClient
internal import UncurlReactor

/// A `data:` URL (RFC 2397), a file on this machine, or a cached answer in memory, as the source of a task's answer.
/// Files are read and `data:` URLs decoded on other threads. The content is delivered in pieces, one in each turn and
/// no faster than they are taken, since the loop serves other sessions too.
final class LocalLoad: AnswerSource, @unchecked Sendable {
    // `@unchecked`: everything here is used on the loop alone; the reading thread gets values.
    private let url: URL
    private unowned let delegate: any LoadDelegate
    private let loop: EventLoop
    private var isHeld = false
    private var isStopped = false
    /// Whether the next piece is on its way.
    private var isReading = false
    private var file: OpenFile?
    private var offset: UInt64 = 0
    /// The answer, if it is known from the start.
    private let ready: URLResponse?

    private static let pieceSize = 256 << 10

    /// This is not the blocking pool: its queue has a limit, and a program may ask for a thousand URLs at once.
    static let decoding = DispatchQueue(label: "URLLoading.DataURL")

    init(_ url: URL, on loop: EventLoop, _ delegate: any LoadDelegate) {
        self.url = url
        self.loop = loop
        self.delegate = delegate
        ready = nil
    }

    /// Loads what is in memory already: an answer from the cache.
    init(_ response: URLResponse, _ data: Data, on loop: EventLoop, _ delegate: any LoadDelegate) {
        url = response.url ?? URL(fileURLWithPath: "/")
        self.loop = loop
        self.delegate = delegate
        ready = response
        self.data = data
    }

    /// Begins to load. Nothing is reported before this has returned.
    func begin() {
        let (url, loop) = (url, loop)
        guard ready == nil, url.scheme?.lowercased() == "data" else {
            loop.post { self.open() }
            return
        }
        LocalLoad.decoding.async {
            let content = DataURL(url)
            loop.post { self.open(content) }
        }
    }

    func hold(reading isHeld: Bool, sending: Bool) {
        self.isHeld = isHeld
        if !isHeld { proceed() }
    }

    func stop() { isStopped = true }

    private func open() {
        guard !isStopped else { return }
        if let ready {
            delegate.received(ready)
            return proceed()
        }
        do throws(OpenFile.Problem) {
            let file = try OpenFile(path: url.path)
            self.file = file
            let size = Int(clamping: file.status.size)
            delegate.received(
                URLResponse(
                    url: url,
                    mimeType: URLResponse.mimeType(ofPath: url.path),
                    expectedContentLength: size,
                    textEncodingName: nil
                )
            )
            proceed()
        } catch {
            delegate.end(URLError(LocalLoad.code(error, url), url, "\(error)"))
        }
    }

    private func open(_ content: DataURL?) {
        guard !isStopped else { return }
        guard let content else {
            return delegate.end(URLError(.badURL, url, "it is no data: URL by RFC 2397"))
        }
        data = content.data
        delegate.received(
            URLResponse(
                url: url,
                mimeType: content.mimeType,
                expectedContentLength: content.data.count,
                textEncodingName: content.charset
            )
        )
        proceed()
    }

    /// The rest of content in memory.
    private var data: Data?

    /// Delivers the next piece, unless the load is held.
    private func proceed() {
        guard !isHeld, !isStopped, !isReading else { return }
        if let data { return tell(data) }
        guard let file else { return }
        isReading = true
        let offset = offset
        do throws(BlockingPool.Refusal) {
            try BlockingPool.shared.run(on: loop) { () -> Result<[UInt8], Errno> in
                Result { () throws(Errno) in try file.read(at: offset, atMost: LocalLoad.pieceSize) }
            } then: {
                self.read($0)
            }
        } catch {
            delegate.end(URLError(.cannotOpenFile, url, "no thread to read on: \(error)"))
        }
    }

    private func tell(_ content: Data) {
        let rest = content.dropFirst(LocalLoad.pieceSize)
        data = rest
        if !content.isEmpty { delegate.receive(Array(content.prefix(LocalLoad.pieceSize)).span) }
        guard !isStopped else { return }
        guard !rest.isEmpty else { return finish() }
        isReading = true
        loop.post {
            self.isReading = false
            self.proceed()
        }
    }

    private func read(_ piece: Result<[UInt8], Errno>) {
        isReading = false
        guard !isStopped else { return }
        switch piece {
        case .failure(let error): delegate.end(URLError(.cannotOpenFile, url, error))
        case .success(let bytes) where bytes.isEmpty: finish()
        case .success(let bytes):
            offset += UInt64(bytes.count)
            delegate.receive(bytes.span)
            proceed()
        }
    }

    private func finish() {
        file = nil
        delegate.finished()
    }

    private static func code(_ problem: OpenFile.Problem, _ url: URL) -> URLError.Code {
        switch problem {
        case .system(.noSuchFile): .fileDoesNotExist
        case .system(.accessDenied): .noPermissionsToReadFile
        case .system: .cannotOpenFile
        case .notRegular: url.hasDirectoryPath || LocalLoad.isFolder(url) ? .fileIsDirectory : .cannotOpenFile
        }
    }

    private static func isFolder(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
    }
}

/// The media types of files, by extension: the few that a program is likely to load from its own disk.
extension URLResponse {
    private static let mimeTypes: [String: String] = [
        "txt": "text/plain", "html": "text/html", "htm": "text/html", "css": "text/css", "csv": "text/csv",
        "xml": "application/xml", "json": "application/json", "js": "text/javascript", "pdf": "application/pdf",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "svg": "image/svg+xml", "ico": "image/vnd.microsoft.icon", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mov": "video/quicktime", "wav": "audio/wav", "zip": "application/zip", "gz": "application/gzip",
        "tar": "application/x-tar", "wasm": "application/wasm", "md": "text/markdown",
    ]

    package static func mimeType(ofPath path: String) -> String {
        let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last
        return ending.flatMap { mimeTypes[$0.lowercased()] } ?? "application/octet-stream"
    }
}
