public import UncurlHTTP1

/// The content of a request, from memory to a form of several parts.
public enum Content: Sendable {
    /// No content.
    case none
    /// Content in memory; it is sent with the head in one call, and again on a retry.
    case bytes([UInt8])
    /// A regular file, or a range of one, that is read as it is sent, with `sendfile` if the connection has no TLS.
    case file(FileBody)
    /// Content that a thread reads. Without a length it is chunked.
    case threaded(ThreadedBody)
    /// Content that is asked for piece by piece (``ExchangeDelegate/exchange(_:needsBodyAt:)``). Without a length it
    /// is chunked.
    case stream(length: UInt64?, replayable: Bool)
    /// Contents that are sent one after the other: a form's boundaries in memory, its files from disk, its streams
    /// from a thread. They are chunked if one of them does not know its length. None of them may be content that is
    /// asked for, and together they have at most 2^63 - 1 bytes, which no file system exceeds.
    case parts([Content])

    /// The length in bytes; nil if it is not known, zero for no content.
    public var length: UInt64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): UInt64(bytes.count)
        case .file(let file): file.length
        case .threaded(let body): body.length
        case .stream(let length, _): length
        case .parts(let parts): parts.allSatisfy { $0.length != nil } ? Content.sum(of: parts) : nil
        }
    }

    /// Whether all of it can be sent again.
    public var isReplayable: Bool {
        switch self {
        case .none, .bytes, .file: true
        case .threaded(let body): body.isReplayable
        case .stream(_, let replayable): replayable
        case .parts(let parts): parts.allSatisfy(\.isReplayable)
        }
    }

    /// Whether its parts, if it has any, can be sent together: see ``parts(_:)``.
    package var isSendable: Bool {
        guard case .parts = self else { return true }
        let isAsked = parts.contains { if case .stream = $0 { true } else { false } }
        return !isAsked && Content.sum(of: parts) <= Int64.max
    }

    /// What it consists of, in order; none for no content.
    package var parts: [Content] {
        switch self {
        case .none: []
        case .parts(let parts): parts.flatMap(\.parts)
        case .bytes, .file, .threaded, .stream: [self]
        }
    }

    /// The bytes of all of it, if all of it is in memory.
    package var octets: [UInt8]? {
        var all: [UInt8] = []
        for part in parts {
            guard let bytes = part.bytes else { return nil }
            all += bytes
        }
        return all
    }

    /// Reads all of it, and waits for it. A part that gives less or more than it has declared throws
    /// ``EngineError/bodyLengthMismatch(declared:given:)``; content that is asked for gives nothing.
    package func read() throws -> [UInt8] {
        let given: [UInt8] =
            switch self {
            case .none, .stream: []
            case .bytes(let bytes): bytes
            case .file(let file): try file.read()
            case .threaded(let body): try body.open().readToEnd()
            case .parts(let parts): try parts.flatMap { try $0.read() }
            }
        if let length, length != given.count {
            throw EngineError.bodyLengthMismatch(declared: length, given: UInt64(given.count))
        }
        return given
    }

    /// The bytes of content that is in memory; nil for content that is read while it is sent.
    var bytes: [UInt8]? {
        switch self {
        case .none: []
        case .bytes(let bytes): bytes
        case .file, .threaded, .stream, .parts: nil
        }
    }

    /// The sum of the known lengths, or the greatest number where that is too large.
    private static func sum(of parts: [Content]) -> UInt64 {
        parts.reduce(0) { sum, part in
            let (next, overflow) = sum.addingReportingOverflow(part.length ?? 0)
            return overflow ? .max : next
        }
    }
}

/// A piece of a streamed request body.
public enum BodyPart: Sendable {
    /// Bytes, which are shared and not copied. An empty piece makes the engine ask again at once.
    case bytes([UInt8])
    /// Nothing yet. ``Engine/bodyReady(_:)`` makes the engine ask again.
    case later
    /// The end. Trailers are sent only with chunked framing (RFC 9112 §7.1.2); with a declared length they are dropped.
    case end(trailers: HTTPFields?)
    /// The source has failed: the exchange fails, and the connection is reset so that the server cannot take the body
    /// for whole.
    case failed
}
