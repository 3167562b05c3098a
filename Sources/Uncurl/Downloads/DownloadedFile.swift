internal import URLLoading

/// What has become of a downloaded file by the time a response is made of it.
enum DownloadedFile: Sendable {
    /// It lies where it is to stay.
    case placed(URL)
    /// It could not be put at its place, and lies where it came to.
    case stranded(UncurlError)
    /// The answer is not acceptable and goes to no place. The failure has its content, or names the file where no place
    /// was given.
    case refused(ValidationFailure)

    var isStranded: Bool {
        if case .stranded = self { true } else { false }
    }

    var isPlaced: Bool {
        if case .placed = self { true } else { false }
    }
}
