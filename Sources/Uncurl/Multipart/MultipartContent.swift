public import URLLoading
internal import UncurlEngine

/// The content of one part of a form.
public struct MultipartContent: Sendable {
    enum Kind: Sendable {
        case bytes([UInt8])
        case file(URL)
        case stream(StreamSource)
    }

    let kind: Kind

    /// Text in UTF-8. Line ends are kept.
    public static func text(_ text: String) -> MultipartContent { MultipartContent(kind: .bytes(Array(text.utf8))) }

    /// Bytes in memory.
    public static func data(_ data: Data) -> MultipartContent { MultipartContent(kind: .bytes([UInt8](data))) }

    /// A regular local file. The file is opened when it is appended to the form. When the form is sent, the file is
    /// read up to the size that it had when it was appended. A shorter file, or another file under its name, is an
    /// error.
    public static func file(_ url: URL) -> MultipartContent { MultipartContent(kind: .file(url)) }

    /// A stream that can be read again: each attempt opens a new one.
    ///
    /// - Parameters:
    ///   - length: in bytes, if it is known; without it the form is sent in chunks. A stream with more or fewer bytes
    ///     fails the request before the server can take the form for complete.
    ///   - opening: called on a thread that may block, as are the stream's reads.
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

    /// A stream that can be read once. If it must be sent again after a redirect, a challenge or a lost connection, the
    /// form fails with ``MultipartFailure/notReplayable``.
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
