public import URLLoading

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

    /// Creates missing parent folders, if the options allow it.
    func prepare(_ place: URL) throws {
        guard place.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
        guard options.contains(.createIntermediateDirectories) else { return }
        let folder = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func place(for file: URL, _ response: URLResponse?) -> URL? { choose(file, response) }
}

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
            core.post(.didFailToMoveFile, task, facts)
            return .stranded(.file(failure))
        }
        core.post(.didMoveFile, task)
        return .placed(place)
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

    var isPlaced: Bool {
        if case .placed = self { true } else { false }
    }
}
