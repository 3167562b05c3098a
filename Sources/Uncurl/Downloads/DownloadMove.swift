internal import URLLoading

/// Validates a finished download and moves its file to its place. The outcome is part of the task's result.
struct DownloadMove {
    let core: ManagerCore
    let session: URLSession
    let task: URLSessionDownloadTask
    /// The task's own hook, asked after the manager's.
    let own: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?)?
    let destination: DownloadDestination?
    /// Whether the caller gets a file that has no destination.
    var givesFile = true

    /// Why the answer is refused; nil where it is acceptable. Called on any thread.
    ///
    /// With a destination, the caller looks for the file nowhere else: a refused file is deleted, and the failure
    /// carries its content. Without a destination, a caller that gets the file gets that of a refused answer too.
    func refusal(_ file: URL, _ outcome: TaskOutcome, by validation: ResponseValidation) -> ValidationFailure? {
        let request = task.currentRequest ?? task.originalRequest
        var answer = ReceivedResponse(request: request, response: outcome.response, data: Data(), fileURL: file)
        guard let failure = validation.failure(of: answer) else { return nil }
        if destination == nil, givesFile { answer.fileURL = leave(file, outcome) } else { Self.takeIn(file, &answer) }
        return ValidationFailure(failure.reasons, answer: answer)
    }

    /// Deletes the file of a refused answer, and puts its content into the answer.
    static func takeIn(_ file: URL, _ answer: inout ReceivedResponse) {
        (answer.data, answer.fileURL) = (head(of: file), nil)
        try? FileManager.default.removeItem(at: file)
    }

    private static func head(of file: URL) -> Data {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: ValidationFailure.contentLimit)) ?? Data()
    }

    /// Called on the session's delegate queue.
    func run(_ file: URL, _ outcome: TaskOutcome) -> DownloadedFile {
        if let place = core.hooks.didFinishDownloading?(session, task, file) ?? own?(session, task, file) {
            return move(file, to: place, [])
        }
        guard let destination, let place = destination.place(for: file, outcome.response) else {
            return .left(leave(file, outcome))
        }
        return move(file, to: place, destination.options)
    }

    /// The URL of a file that has no destination. A background session deletes its own files once their events have
    /// been handled, so such a file is moved to the process's folder, as an ordinary session's is.
    private func leave(_ file: URL, _ outcome: TaskOutcome) -> URL {
        guard outcome.settle != nil else { return file }
        let place = URL(fileURLWithPath: DownloadParts.newWhole())
        do {
            try FilePlacement(file: file, place: place, replacesFile: false, staysPrivate: true).run()
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
