internal import UncurlHTTP1

/// Frames a request's content: unchanged if its length is known, in chunks if not (RFC 9112 §7.1).
struct ContentFramer {
    let isChunked: Bool
    /// The line end of the last chunk, if the chunk was sent without it: it is sent with what follows.
    private var owed: [UInt8] = []

    /// - Parameter length: nil for chunks.
    init(length: UInt64?) { isChunked = length == nil }

    /// Returns what is sent before and after content. It must not be called with none: an empty chunk would end the
    /// body.
    mutating func frame(_ content: [UInt8]) -> (before: [UInt8], content: [UInt8], after: [UInt8]) {
        guard isChunked else { return ([], content, []) }
        let before = begin(content.count)
        endChunk()
        return (before, content, owed.take())
    }

    /// Returns the beginning of a chunk of `count` octets that are sent separately.
    mutating func begin(_ count: Int) -> [UInt8] {
        var line = owed.take()
        MessageSerializer.appendChunkHeader(count: count, to: &line)
        return line
    }

    /// Notes that all octets of the chunk have been sent.
    mutating func endChunk() { MessageSerializer.appendChunkEnd(to: &owed) }

    /// Returns the end of the content.
    mutating func end(trailers: HTTPFields = HTTPFields()) throws(EngineError) -> [UInt8] {
        guard isChunked else { return [] }
        var bytes = owed.take()
        do throws(HTTP1Error) {
            try MessageSerializer.appendLastChunk(trailers: trailers, to: &bytes)
        } catch {
            throw .invalidRequest(.syntax(error))
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func take() -> [UInt8] {
        defer { self = [] }
        return self
    }
}
