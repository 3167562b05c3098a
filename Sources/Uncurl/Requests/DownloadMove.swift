internal import Glibc
internal import URLLoading

/// A finished download on its way to its place. What becomes of it is part of the task's result: a file that could not be moved is a
/// failure, and lies where it was.
struct DownloadMove {
    let core: ManagerCore
    let task: URLSessionDownloadTask

    /// On the session's delegate queue.
    func run(
        _ file: URL,
        _ response: URLResponse?,
        _ session: URLSession,
        _ destination: DownloadDestination?
    ) -> Result<URL, UncurlError> {
        if let place = core.hooks.didFinishDownloading?(session, task, file) { return move(file, to: place, []) }
        guard let destination, let place = destination.place(for: file, response) else { return .success(file) }
        return move(file, to: place, destination.options)
    }

    func move(_ file: URL, to place: URL, _ options: DownloadDestination.Options) -> Result<URL, UncurlError> {
        do {
            guard place.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
            if options.contains(.createIntermediateDirectories) {
                let folder = place.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            if options.contains(.removePreviousFile) {
                try replace(place, by: file)
            } else {
                try FileManager.default.moveItem(at: file, to: place)
            }
        } catch {
            core.post(
                URLSessionManager.downloadTaskDidFailToMoveFile,
                task,
                (error as NSError).userInfo.reduce(into: [:]) { $0[AnyHashable($1.key)] = $1.value }
            )
            return .failure(.file(FileFailure(source: file, destination: place, underlying: error)))
        }
        core.post(URLSessionManager.downloadTaskDidMoveFile, task)
        return .success(place)
    }

    /// In one step, so that nobody ever sees neither, and what lies there is lost to no failure. From another file system the file comes by a
    /// copy beside its place.
    private func replace(_ place: URL, by file: URL) throws {
        if try renames(file, to: place) { return }
        let copy = place.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        do {
            try FileManager.default.copyItem(at: file, to: copy)
            guard try renames(copy, to: place) else { throw Self.failure(EXDEV, place) }
        } catch {
            try? FileManager.default.removeItem(at: copy)
            throw error
        }
        try? FileManager.default.removeItem(at: file)
    }

    /// False: they are on two file systems. A folder in the way is removed first: nothing takes its place in one step.
    private func renames(_ file: URL, to place: URL) throws -> Bool {
        if unsafe rename(file.path, place.path) == 0 { return true }
        if errno == EISDIR {
            try FileManager.default.removeItem(at: place)
            if unsafe rename(file.path, place.path) == 0 { return true }
        }
        let code = errno
        guard code == EXDEV else { throw Self.failure(code, place) }
        return false
    }

    private static func failure(_ code: CInt, _ place: URL) -> CocoaError {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        return CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: place.path, NSUnderlyingErrorKey: cause])
    }
}
