internal import URLLoading

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
