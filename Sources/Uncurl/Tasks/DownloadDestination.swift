public import URLLoading
internal import UncurlText

/// The place of a downloaded file. The file is moved there in one step, after the download is complete and its answer
/// has been validated. The file of a refused answer is deleted; the failure carries up to a mebibyte of its content.
public struct DownloadDestination: Sendable {
    /// What the move of a file may do.
    public struct Options: OptionSet, Sendable {
        public let rawValue: Int

        /// The options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Missing parent folders are created.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// A regular file at the place is replaced. Anything else at the place is a ``FileFailure/Obstacle``, with this
        /// option too.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// What the move may do.
    public let options: Options
    private let choose: @Sendable (URL, URLResponse?) -> URL?

    /// A destination that is chosen for each download.
    ///
    /// - Parameters:
    ///   - options: what the move may do.
    ///   - choose: returns the place of the file that is at the given URL now, or nil to leave it there. Called on the
    ///     session's delegate queue, but not for a refused answer.
    public init(options: Options = [], _ choose: @escaping @Sendable (URL, URLResponse?) -> URL?) {
        self.options = options
        self.choose = choose
    }

    /// Puts the download at this file.
    public static func file(
        _ url: URL,
        options: Options = [.createIntermediateDirectories, .removePreviousFile]
    ) -> DownloadDestination {
        DownloadDestination(options: options) { _, _ in url }
    }

    /// Puts the download into a folder, under the name that the server suggests. The name cannot lead out of the
    /// folder.
    public static func folder(
        _ url: URL,
        options: Options = [.createIntermediateDirectories]
    ) -> DownloadDestination {
        DownloadDestination(options: options) { temporary, response in
            let suggested = response?.suggestedFilename ?? temporary.lastPathComponent
            let name = suggested.split(separator: "/").last.map(String.init) ?? temporary.lastPathComponent
            return url.appendingPathComponent(name == ".." || name == "." ? "download" : name)
        }
    }

    /// Puts the download into the user's documents folder.
    public static func documents(options: Options = [.createIntermediateDirectories]) -> DownloadDestination {
        let folder = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
        return .folder(folder ?? FileManager.default.homeDirectoryForCurrentUser, options: options)
    }

    func place(for file: URL, _ response: URLResponse?) -> URL? { choose(file, response) }
}

extension DownloadDestination: CustomStringConvertible {
    public var description: String { described(Self.self, [:]) }
}

extension DownloadDestination.Options {
    /// Moves a file to its place.
    func move(_ file: URL, to place: URL) throws(FileFailure) {
        do {
            guard place.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
            if contains(.createIntermediateDirectories) {
                let folder = place.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            try FilePlacement(file: file, place: place, replacesFile: contains(.removePreviousFile)).run()
        } catch {
            throw FileFailure(source: file, destination: place, underlying: error)
        }
    }
}

/// Validates a finished download and moves its file to its place. The outcome is part of the task's result.
extension TaskDelegate {
    /// - Parameters:
    ///   - usual: where the file goes, unless the delegate has a destination.
    ///   - givesFile: whether the caller gets a file that has no destination.
    ///   - then: called with nil for a task that has no file; on the delegate queue, unless the answer is refused.
    func place(
        _ outcome: TaskOutcome,
        _ usual: DownloadDestination?,
        givesFile: Bool = true,
        by validation: ResponseValidation,
        in session: URLSession,
        then: @escaping @Sendable (DownloadedFile?) -> Void
    ) {
        guard let file = outcome.file, let task = outcome.task as? URLSessionDownloadTask else { return then(nil) }
        let destination = (self as? DownloadTaskDelegate)?.destination ?? usual
        var answer = ReceivedResponse(
            request: task.currentRequest ?? task.originalRequest,
            response: outcome.response,
            data: Data(),
            fileURL: file
        )
        guard let failure = validation.failure(of: answer) else {
            return session.delegateQueue.addLasting { [self] in
                then(move(file, of: task, to: destination, outcome, session))
            }
        }
        // With a destination, the caller looks for the file nowhere else: a refused file is deleted, and the failure
        // carries its content. Without one, a caller that gets the file gets that of a refused answer too.
        if destination == nil, givesFile { answer.fileURL = outcome.left(file) } else { answer.takeFileIn() }
        then(.refused(ValidationFailure(failure.reasons, answer: answer)))
    }

    private func move(
        _ file: URL,
        of task: URLSessionDownloadTask,
        to destination: DownloadDestination?,
        _ outcome: TaskOutcome,
        _ session: URLSession
    ) -> DownloadedFile {
        let (first, own) = (core.hooks.didFinishDownloading, hooks.didFinishDownloading)
        if let place = first?(session, task, file) ?? own?(session, task, file) {
            return move(file, of: task, to: place, [])
        }
        guard let destination, let place = destination.place(for: file, outcome.response) else {
            return .left(outcome.left(file))
        }
        return move(file, of: task, to: place, destination.options)
    }

    func move(
        _ file: URL,
        of task: URLSessionDownloadTask,
        to place: URL,
        _ options: DownloadDestination.Options
    ) -> DownloadedFile {
        do throws(FileFailure) {
            try options.move(file, to: place)
        } catch {
            var facts: [AnyHashable: Any] = [
                NSLocalizedDescriptionKey: error.description, NSUnderlyingErrorKey: error.underlying,
            ]
            for (key, value) in (error.underlying as NSError).userInfo { facts[key] = value }
            core.post(.didFailToMoveFile, task, facts)
            return .stranded(.file(error))
        }
        core.post(.didMoveFile, task)
        return .placed(place)
    }
}

extension TaskOutcome {
    /// The URL of a file that has no destination. A background session deletes its own files once their events have
    /// been handled, so such a file is moved to the process's folder, as an ordinary session's is.
    fileprivate func left(_ file: URL) -> URL {
        guard settle != nil else { return file }
        let place = URL(fileURLWithPath: StoreFile.newWhole())
        do {
            try FilePlacement(file: file, place: place, replacesFile: false, staysPrivate: true).run()
            return place
        } catch {
            return file
        }
    }
}

extension ReceivedResponse {
    /// Deletes the file of a refused answer, and keeps its first content in memory.
    mutating func takeFileIn() {
        guard let file = fileURL else { return }
        (data, fileURL) = (Data(), nil)
        if let handle = try? FileHandle(forReadingFrom: file) {
            data = (try? handle.read(upToCount: ValidationFailure.contentLimit)) ?? Data()
            try? handle.close()
        }
        try? FileManager.default.removeItem(at: file)
    }
}

/// The outcome of a file's move, before a response is made of the file.
enum DownloadedFile: Sendable {
    /// The file is at its final place.
    case placed(URL)
    /// Nobody has given the file a place. This is where it is.
    case left(URL)
    /// The file could not be moved to its place, and is still where the session put it.
    case stranded(UncurlError)
    /// The answer is not acceptable, and its file is not moved. The failure carries the file's content, or its URL
    /// where the download has no destination.
    case refused(ValidationFailure)

    var isStranded: Bool {
        if case .stranded = self { true } else { false }
    }
}
