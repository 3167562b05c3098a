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
