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
            if options.contains(.removePreviousFile), replace(place, by: file) {
                // In one step: nobody ever sees neither.
            } else {
                if options.contains(.removePreviousFile), FileManager.default.fileExists(atPath: place.path) {
                    try FileManager.default.removeItem(at: place)
                }
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

    /// False: another file system, or a folder in the way.
    private func replace(_ place: URL, by file: URL) -> Bool { unsafe rename(file.path, place.path) == 0 }
}
