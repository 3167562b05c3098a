public import URLLoading

/// Where a download is put: in one step, once it is whole and its answer has been validated. A refused answer is put
/// nowhere, and its content is in the failure, up to a mebibyte of it.
public struct DownloadDestination: Sendable {
    /// What may be done on the way to the place.
    public struct Options: OptionSet, Sendable {
        public let rawValue: Int

        /// The options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Folders that are missing on the way are made.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// A regular file that lies there already is replaced. Anything else there is a ``FileFailure/Obstacle``, with
        /// this option too.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// What may be done on the way to the place.
    public let options: Options
    private let choose: @Sendable (URL, URLResponse?) -> URL?

    /// - Parameter choose: on the session's delegate queue, given where the file lies now; nil leaves it there. Not
    ///   asked about a refused answer.
    public init(options: Options = [], _ choose: @escaping @Sendable (URL, URLResponse?) -> URL?) {
        self.options = options
        self.choose = choose
    }

    /// This very file.
    public static func file(
        _ url: URL,
        options: Options = [.createIntermediateDirectories, .removePreviousFile]
    ) -> DownloadDestination {
        DownloadDestination(options: options) { _, _ in url }
    }

    /// In a folder, by the name that the server suggests; never outside the folder.
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

    /// The user's documents.
    public static func documents(options: Options = [.createIntermediateDirectories]) -> DownloadDestination {
        let folder = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
        return .folder(folder ?? FileManager.default.homeDirectoryForCurrentUser, options: options)
    }

    func place(for file: URL, _ response: URLResponse?) -> URL? { choose(file, response) }
}
