public import URLLoading

/// A file that could not be put where it belongs.
public struct FileFailure: Error, Sendable {
    public let source: URL
    public let destination: URL
    public let underlying: any Error
}
