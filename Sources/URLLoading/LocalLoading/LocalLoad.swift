internal import Dispatch
internal import Foundation
internal import Reactor

/// A `data:` URL (RFC 2397), a file on this machine or what a cache has in memory, as a task's answer. Files are read and `data:`
/// URLs decoded on other threads; all of it is told in pieces, as fast as they are taken, and one a turn: the loop is other sessions' too.
final class LocalLoad: @unchecked Sendable {
    // `@unchecked`: everything here is touched on the loop alone; the reading thread gets values.
    private let url: URL
    private unowned let load: TaskLoader
    private var isHeld = false
    private var isStopped = false
    /// The next piece is on its way.
    private var isReading = false
    private var file: OpenFile?
    private var offset: UInt64 = 0
    /// The answer, where it is known from the start.
    private let ready: URLResponse?

    private static let pieceSize = 256 << 10

    /// Not the blocking pool, whose line is bounded: a program may ask for a thousand URLs at once.
    static let decoding = DispatchQueue(label: "URLLoading.DataURL")

    init(_ url: URL, _ load: TaskLoader) {
        self.url = url
        self.load = load
        ready = nil
    }

    /// What is in memory already: an answer of the cache's.
    init(_ response: URLResponse, _ data: Data, _ load: TaskLoader) {
        url = response.url ?? URL(fileURLWithPath: "/")
        self.load = load
        ready = response
        self.data = data
    }

    /// Tells nothing before it has returned.
    func begin() {
        let (url, loop) = (url, load.engine.loop)
        guard ready == nil, url.scheme?.lowercased() == "data" else {
            loop.post { self.open() }
            return
        }
        LocalLoad.decoding.async {
            let content = DataURL(url)
            loop.post { self.open(content) }
        }
    }

    func hold(_ isHeld: Bool) {
        self.isHeld = isHeld
        if !isHeld { proceed() }
    }

    func stop() { isStopped = true }

    private func open() {
        guard !isStopped else { return }
        if let ready {
            load.received(ready, from: .local(self))
            return proceed()
        }
        do throws(OpenFile.Problem) {
            let file = try OpenFile(path: url.path)
            self.file = file
            let size = Int(clamping: file.status.size)
            load.received(
                URLResponse(
                    url: url,
                    mimeType: MediaTypes.type(ofPath: url.path),
                    expectedContentLength: size,
                    textEncodingName: nil
                ),
                from: .local(self)
            )
            proceed()
        } catch {
            load.end(ErrorTranslation.urlError(LocalLoad.code(error, url), url, "\(error)"))
        }
    }

    private func open(_ content: DataURL?) {
        guard !isStopped else { return }
        guard let content else {
            return load.end(ErrorTranslation.urlError(.badURL, url, "no data: URL by RFC 2397"))
        }
        data = content.data
        load.received(
            URLResponse(
                url: url,
                mimeType: content.mimeType,
                expectedContentLength: content.data.count,
                textEncodingName: content.charset
            ),
            from: .local(self)
        )
        proceed()
    }

    /// What is left of content in memory.
    private var data: Data?

    /// The next piece, if nothing holds it.
    private func proceed() {
        guard !isHeld, !isStopped, !isReading, load.isLoading(self) else { return }
        if let data { return tell(data) }
        guard let file else { return }
        isReading = true
        let (offset, loop) = (offset, load.engine.loop)
        do throws(BlockingPool.Refusal) {
            try SharedLoops.blocking.run(on: loop) { () -> Result<[UInt8], Errno> in
                Result { () throws(Errno) in try file.read(at: offset, atMost: LocalLoad.pieceSize) }
            } then: {
                self.read($0)
            }
        } catch {
            load.end(ErrorTranslation.urlError(.cannotOpenFile, url, "no thread to read on: \(error)"))
        }
    }

    private func tell(_ content: Data) {
        let rest = content.dropFirst(LocalLoad.pieceSize)
        data = rest
        if !content.isEmpty { load.receive(Array(content.prefix(LocalLoad.pieceSize)).span) }
        guard !isStopped else { return }
        guard !rest.isEmpty else { return finish() }
        isReading = true
        load.engine.loop.post {
            self.isReading = false
            self.proceed()
        }
    }

    private func read(_ piece: Result<[UInt8], Errno>) {
        isReading = false
        guard !isStopped else { return }
        switch piece {
        case .failure(let error): load.end(ErrorTranslation.urlError(.cannotOpenFile, url, error))
        case .success(let bytes) where bytes.isEmpty: finish()
        case .success(let bytes):
            offset += UInt64(bytes.count)
            load.receive(bytes.span)
            proceed()
        }
    }

    private func finish() {
        file = nil
        load.finished()
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
