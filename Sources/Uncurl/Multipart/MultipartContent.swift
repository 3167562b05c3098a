internal import HTTPEngine
public import URLLoading

/// What a part of a form holds.
public struct MultipartContent: Sendable {
    enum Kind: Sendable {
        case bytes([UInt8])
        case file(URL)
        case stream(StreamSource)
    }

    let kind: Kind

    /// Text in UTF-8. Line ends stay as they are.
    public static func text(_ text: String) -> MultipartContent { MultipartContent(kind: .bytes(Array(text.utf8))) }

    /// Bytes in memory.
    public static func data(_ data: Data) -> MultipartContent { MultipartContent(kind: .bytes([UInt8](data))) }

    /// A regular file of this machine. It is looked at when it is appended and read when it is sent, up to the size it
    /// had; another file under its name by then, or a shorter one, is an error.
    public static func file(_ url: URL) -> MultipartContent { MultipartContent(kind: .file(url)) }

    /// A stream that can be read again: each sending has one of its own.
    ///
    /// - Parameters:
    ///   - length: in bytes, if it is known; the form goes chunked without. A stream that gives more or less fails the
    ///     sending before the server could take it for whole.
    ///   - opening: called on a thread that may wait, as the stream's reads are.
    public static func stream(
        length: UInt64? = nil,
        opening: @escaping @Sendable () throws -> InputStream
    ) -> MultipartContent {
        MultipartContent(
            kind: .stream(
                StreamSource(length: length, isReplayable: true) {
                    try OneStream.reader(of: try opening())
                }
            )
        )
    }

    /// A stream that is read once: sent again after a redirect, a challenge or a lost connection, the form fails with
    /// ``MultipartFailure/notReplayable``.
    public static func stream(_ stream: sending InputStream, length: UInt64? = nil) -> MultipartContent {
        let stream = OneStream(stream)
        return MultipartContent(kind: .stream(StreamSource(length: length, isReplayable: false) { try stream.open() }))
    }

    struct StreamSource: Sendable {
        let length: UInt64?
        let isReplayable: Bool
        let open: @Sendable () throws -> any BlockingReader
    }
}
