public import URLLoading

/// The place of a downloaded file. The file is moved there in one step, once it is whole and its answer has been
/// validated. The file of a refused answer is deleted; up to a mebibyte of its content is in the failure.
public struct DownloadDestination: Sendable {
    /// What may be done on the way to the place.
    public struct Options: OptionSet, Sendable {
        public let rawValue: Int

        /// The options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Missing folders on the way are created.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// A regular file that lies there already is replaced. Anything else there is a ``FileFailure/Obstacle``, with
        /// this option too.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// What may be done on the way to the place.
    public let options: Options
    private let choose: @Sendable (URL, URLResponse?) -> URL?

    /// A destination that is chosen for each download.
    ///
    /// - Parameters:
    ///   - options: what may be done on the way to the place.
    ///   - choose: names the place of the file that lies at the given URL now; nil leaves it there. Called on the
    ///     session's delegate queue, and not for a refused answer.
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

    /// Puts the download into a folder, by the name that the server suggests. The name cannot lead out of the folder.
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

    /// Creates missing folders on the way, if it may.
    func prepare(_ place: URL) throws {
        guard place.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
        guard options.contains(.createIntermediateDirectories) else { return }
        let folder = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func place(for file: URL, _ response: URLResponse?) -> URL? { choose(file, response) }
}
