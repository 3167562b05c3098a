internal import UncurlHTTP1
internal import UncurlReactor

/// The progress of one sending of a ``SegmentedBody``. It holds one file open, or one thread busy, at a time. A segment
/// that gives less or more than it has declared fails before it could break the framing.
final class SegmentReader {
    enum Next {
        /// The middle one is content; each of them may be empty.
        case send(before: [UInt8], content: [UInt8], after: [UInt8])
        /// That many bytes of a file, from that offset on.
        case file(OpenFile, offset: UInt64, count: UInt64)
        /// Nothing yet: ``wake`` will be called.
        case later
        /// The body is complete with these bytes.
        case end([UInt8])
    }

    /// The segment that is being sent.
    private enum Current {
        case nothing
        case file(OpenFile, offset: UInt64, left: UInt64)
        case threaded(ThreadedBodySource, declared: UInt64?, given: UInt64)
    }

    /// The length of a file's chunk: what `sendfile` takes in a turn.
    private static let chunk = UInt64(FilePortion.slice)

    private let body: SegmentedBody
    private let wake: @Sendable () -> Void
    private var framer: ContentFramer
    private var index = 0
    private var current = Current.nothing
    /// How many bytes have been given so far.
    private var given: UInt64 = 0
    /// How many bytes of a file the chunk's header has announced and that have not been given yet.
    private var chunkLeft: UInt64 = 0

    /// - Parameter wake: called on any thread when bytes are there that ``next()`` has waited for.
    init(_ body: SegmentedBody, wake: @escaping @Sendable () -> Void) {
        self.body = body
        self.wake = wake
        framer = ContentFramer(length: body.length)
    }

    /// Returns what is sent next. Bytes in memory count as given with this call; for a file, ``advance(_:)`` counts
    /// them.
    func next() throws(EngineError) -> Next {
        while true {
            switch current {
            case .nothing:
                guard index < body.segments.count else { return .end(try framer.end()) }
                let bytes = try begin(body.segments[index])
                index += 1
                if let bytes { return frame(bytes) }
            case .file(let file, let offset, let left):
                if left == 0 {
                    current = .nothing
                } else if framer.isChunked, chunkLeft == 0 {
                    chunkLeft = min(left, SegmentReader.chunk)
                    return .send(before: framer.begin(Int(chunkLeft)), content: [], after: [])
                } else {
                    return .file(file, offset: offset, count: framer.isChunked ? chunkLeft : left)
                }
            case .threaded(let source, let declared, let given):
                switch source.take() {
                case .bytes(let bytes):
                    let (sum, overflow) = given.addingReportingOverflow(UInt64(bytes.count))
                    if let declared, overflow || sum > declared {
                        throw .bodyLengthMismatch(declared: declared, given: sum)
                    }
                    current = .threaded(source, declared: declared, given: sum)
                    return frame(bytes)
                case .later:
                    return .later
                case .end:
                    if let declared, given != declared { throw .bodyLengthMismatch(declared: declared, given: given) }
                    current = .nothing
                case .failed(let error):
                    throw .bodySourceFailed(error)
                }
            }
        }
    }

    /// Notes that `count` more bytes of the current file were given; 0 means that the file has become shorter.
    func advance(_ count: Int) throws(EngineError) {
        guard case .file(let file, let offset, let left) = current else { return }
        guard count > 0 else { throw .bodyLengthMismatch(declared: body.length ?? given + left, given: given) }
        let step = min(UInt64(count), left)
        given += step
        current = .file(file, offset: offset + step, left: left - step)
        guard framer.isChunked else { return }
        chunkLeft -= min(step, chunkLeft)
        if chunkLeft == 0 { framer.endChunk() }
    }

    /// Begins a segment. Returns its bytes if they are in memory. Empty segments are skipped, since an empty chunk
    /// would end the body (RFC 9112 §7.1).
    private func begin(_ segment: SegmentedBody.Segment) throws(EngineError) -> [UInt8]? {
        switch segment {
        case .bytes(let bytes):
            return bytes.isEmpty ? nil : bytes
        case .file(let file):
            if file.length > 0 { current = .file(try file.open(), offset: file.offset, left: file.length) }
        case .threaded(let body):
            current = .threaded(ThreadedBodySource(body, wake: wake), declared: body.length, given: 0)
        }
        return nil
    }

    private func frame(_ bytes: [UInt8]) -> Next {
        given += UInt64(bytes.count)
        let framed = framer.frame(bytes)
        return .send(before: framed.before, content: framed.content, after: framed.after)
    }
}
