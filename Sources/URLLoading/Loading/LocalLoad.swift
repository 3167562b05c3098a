internal import Foundation
internal import Reactor

/// A `data:` URL (RFC 2397) or a file on this machine as a task's answer. Files are read on a thread, in pieces, as fast as they
/// are taken.
final class LocalLoad: @unchecked Sendable {
    // `@unchecked`: everything here is touched on the loop alone; the reading thread gets values.
    private let url: URL
    private unowned let load: TaskLoad
    private var isHeld = false
    private var isStopped = false
    private var isReading = false
    private var file: OpenFile?
    private var offset: UInt64 = 0
    /// The answer, where it is known from the start.
    private let ready: URLResponse?

    private static let pieceSize = 256 << 10

    init(_ url: URL, _ load: TaskLoad) {
        self.url = url
        self.load = load
        ready = nil
    }

    /// What is in memory already: an answer of the cache's.
    init(_ response: URLResponse, _ data: Data, _ load: TaskLoad) {
        url = response.url ?? URL(fileURLWithPath: "/")
        self.load = load
        ready = response
        self.data = data
    }

    /// Tells nothing before it has returned.
    func begin() {
        load.engine.loop.post { self.open() }
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
        if url.scheme?.lowercased() == "data" { return openData() }
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

    private func openData() {
        guard let content = DataURL(url) else {
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

    private var data: Data?

    /// The next piece, if nothing holds it.
    private func proceed() {
        guard !isHeld, !isStopped, !isReading, load.isLoading(self) else { return }
        if let data {
            self.data = nil
            if !data.isEmpty { load.receive(Array(data).span) }
            guard !isStopped else { return }
            return finish()
        }
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
