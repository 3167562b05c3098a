internal import UncurlHTTP1
internal import UncurlReactor

/// The progress of one sending of content that is read while it is sent. It holds one file open, or one thread busy, at
/// a time. A part that gives less or more than it has declared fails before it could break the framing: a body of
/// another length must never look like a whole message (RFC 9112 §6.3, HTTP desync).
final class BodyReader {
    enum Next {
        /// The middle one is content; each of them may be empty.
        case send(before: [UInt8], content: [UInt8], after: [UInt8])
        /// That many bytes of a file, from that offset on.
        case file(OpenFile, offset: UInt64, count: UInt64)
        /// Nothing: ``next(asking:)`` is to be called again.
        case again
        /// Nothing yet: ``wake`` will be called, or the delegate says when it has more.
        case later
        /// The body is complete with these bytes.
        case end([UInt8])
    }

    /// The part that is being sent.
    private enum Current {
        case nothing
        case file(OpenFile, offset: UInt64, left: UInt64)
        case threaded(ThreadedBodySource)
        case asked
    }

    /// The length of a file's chunk: what `sendfile` takes in a turn.
    private static let chunk = UInt64(FilePortion.slice)

    private let length: UInt64?
    private let parts: [Content]
    private let wake: @Sendable () -> Void
    private var framer: ContentFramer
    private var index = 0
    private var current = Current.nothing
    /// How many bytes have been given so far.
    private var given: UInt64 = 0
    /// The length that the current part has declared, and how much it has given.
    private var declared: UInt64?
    private var partGiven: UInt64 = 0
    /// How many bytes of a file the chunk's header has announced and that have not been given yet.
    private var chunkLeft: UInt64 = 0

    /// - Parameter wake: called on any thread when bytes are there that ``next(asking:)`` has waited for.
    init(_ body: Content, wake: @escaping @Sendable () -> Void) {
        length = body.length
        parts = body.parts
        self.wake = wake
        framer = ContentFramer(length: length)
    }

    /// Returns what is sent next. Bytes in memory count as given with this call; for a file, ``advance(_:)`` counts
    /// them.
    ///
    /// - Parameter ask: gets a stream's next bytes, from an offset on.
    func next(asking ask: (UInt64) -> BodyPart) throws(EngineError) -> Next {
        while true {
            switch current {
            case .nothing:
                guard index < parts.count else { return .end(try framer.end()) }
                let bytes = try begin(parts[index])
                index += 1
                if let bytes { return frame(bytes) }
            case .file(let file, let offset, let left):
                if left == 0 {
                    current = .nothing
                } else if framer.isChunked, chunkLeft == 0 {
                    chunkLeft = min(left, BodyReader.chunk)
                    return .send(before: framer.begin(Int(chunkLeft)), content: [], after: [])
                } else {
                    return .file(file, offset: offset, count: framer.isChunked ? chunkLeft : left)
                }
            case .threaded(let source):
                switch source.take() {
                case .bytes(let bytes): return try take(bytes)
                case .later: return .later
                case .end: try endPart()
                case .failed(let error): throw .bodySourceFailed(error)
                }
            case .asked:
                switch ask(partGiven) {
                // An empty chunk would end the body (RFC 9112 §7.1).
                case .bytes(let bytes): return bytes.isEmpty ? .again : try take(bytes)
                case .later: return .later
                case .end(let trailers):
                    try endPart()
                    return .end(try framer.end(trailers: trailers ?? HTTPFields()))
                case .failed: throw .bodyFailed
                }
            }
        }
    }

    /// Notes that `count` more bytes of the current file were given; 0 means that the file has become shorter.
    func advance(_ count: Int) throws(EngineError) {
        guard case .file(let file, let offset, let left) = current else { return }
        guard count > 0 else { throw .bodyLengthMismatch(declared: length ?? given + left, given: given) }
        let step = min(UInt64(count), left)
        given += step
        current = .file(file, offset: offset + step, left: left - step)
        guard framer.isChunked else { return }
        chunkLeft -= min(step, chunkLeft)
        if chunkLeft == 0 { framer.endChunk() }
    }

    /// Begins a part. Returns its bytes if they are in memory. Empty parts are skipped.
    private func begin(_ part: Content) throws(EngineError) -> [UInt8]? {
        (declared, partGiven) = (part.length, 0)
        switch part {
        case .none, .parts: break
        case .bytes(let bytes): return bytes.isEmpty ? nil : bytes
        case .file(let file):
            if file.length > 0 { current = .file(try file.open(), offset: file.offset, left: file.length) }
        case .threaded(let body): current = .threaded(ThreadedBodySource(body, wake: wake))
        case .stream: current = .asked
        }
        return nil
    }

    /// Takes bytes of a part whose length is known only from what it declares.
    private func take(_ bytes: [UInt8]) throws(EngineError) -> Next {
        let (sum, overflow) = partGiven.addingReportingOverflow(UInt64(bytes.count))
        if let declared, overflow || sum > declared { throw .bodyLengthMismatch(declared: declared, given: sum) }
        partGiven = sum
        return frame(bytes)
    }

    private func endPart() throws(EngineError) {
        if let declared, partGiven != declared { throw .bodyLengthMismatch(declared: declared, given: partGiven) }
        current = .nothing
    }

    private func frame(_ bytes: [UInt8]) -> Next {
        given += UInt64(bytes.count)
        let framed = framer.frame(bytes)
        return .send(before: framed.before, content: framed.content, after: framed.after)
    }
}
