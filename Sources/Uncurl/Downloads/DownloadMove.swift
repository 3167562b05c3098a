internal import URLLoading

/// A finished download on its way to its place: validated first, then moved. What becomes of it is part of the task's
/// result.
struct DownloadMove {
    /// The most content that is kept of a refused download, in bytes: an error document is shorter.
    private static let refusedContent = 1 << 20

    let core: ManagerCore
    let session: URLSession
    let task: URLSessionDownloadTask
    /// The task's own hook, asked after the manager's.
    let own: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?)?
    let destination: DownloadDestination?

    /// What is wrong with the answer, and so keeps it from its place; nil: nothing. Any thread.
    ///
    /// The caller has said where the file goes and looks for it nowhere else: a refused one is deleted, and the failure
    /// has its content. Without a destination the file is the caller's all the same.
    func refusal(_ file: URL, _ outcome: TaskOutcome, by validation: ResponseValidation) -> ValidationFailure? {
        let request = task.currentRequest ?? task.originalRequest
        var answer = ReceivedResponse(request: request, response: outcome.response, data: Data(), fileURL: file)
        guard let failure = validation.failure(of: answer) else { return nil }
        guard destination != nil else {
            answer.fileURL = leave(file, outcome)
            return ValidationFailure(failure.reasons, answer: answer)
        }
        answer.data = Self.head(of: file)
        answer.fileURL = nil
        try? FileManager.default.removeItem(at: file)
        return ValidationFailure(failure.reasons, answer: answer)
    }

    private static func head(of file: URL) -> Data {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: refusedContent)) ?? Data()
    }

    /// On the session's delegate queue.
    func run(_ file: URL, _ outcome: TaskOutcome) -> DownloadedFile {
        if let place = core.hooks.didFinishDownloading?(session, task, file) ?? own?(session, task, file) {
            return move(file, to: place, [])
        }
        guard let destination, let place = destination.place(for: file, outcome.response) else {
            return .placed(leave(file, outcome))
        }
        return move(file, to: place, destination.options)
    }

    /// Where a file without a place lies. A background session deletes its own files once they have been taken, so
    /// that one of them goes to the temporary folder, as an ordinary session's does.
    private func leave(_ file: URL, _ outcome: TaskOutcome) -> URL {
        guard outcome.settle != nil else { return file }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(file.lastPathComponent)
        do {
            try FilePlacement(file: file, place: place, replacesFile: false).run()
            return place
        } catch {
            return file
        }
    }

    func move(_ file: URL, to place: URL, _ options: DownloadDestination.Options) -> DownloadedFile {
        do {
            guard place.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
            if options.contains(.createIntermediateDirectories) {
                let folder = place.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            try FilePlacement(file: file, place: place, replacesFile: options.contains(.removePreviousFile)).run()
        } catch {
            let failure = FileFailure(source: file, destination: place, underlying: error)
            var facts: [AnyHashable: Any] = [
                NSLocalizedDescriptionKey: failure.description, NSUnderlyingErrorKey: error,
            ]
            for (key, value) in (error as NSError).userInfo { facts[key] = value }
            core.post(TaskNotification.didFailToMoveFile, task, facts)
            return .stranded(.file(failure))
        }
        core.post(TaskNotification.didMoveFile, task)
        return .placed(place)
    }
}
