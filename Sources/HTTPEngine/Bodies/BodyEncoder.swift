internal import HTTP1

/// Turns the parts of a streamed body into what the framing wants, and holds it to its word: a declared length
/// that does not come true must never look like a whole message (RFC 9112 §6.3, HTTP desync).
struct BodyEncoder {
    /// What to do with a part.
    enum Step {
        /// Send these; the middle one is content.
        case send(before: [UInt8], content: [UInt8], after: [UInt8])
        /// Send this, and the body is complete.
        case finish([UInt8])
        case ask
        case wait
        case fail(EngineError)
    }

    private static let lineEnd: [UInt8] = [13, 10]

    private let declared: UInt64?
    /// Content taken from the source so far: where the next part begins.
    private(set) var offset: UInt64 = 0

    /// - Parameter length: nil for chunked framing.
    init(length: UInt64?) { declared = length }

    mutating func encode(_ part: BodyPart) -> Step {
        switch part {
        case .bytes(let bytes):
            // An empty chunk would end the body (RFC 9112 §7.1).
            guard !bytes.isEmpty else { return .ask }
            let (sum, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard let declared else {
                offset = sum
                var line: [UInt8] = []
                MessageSerializer.appendChunkHeader(count: bytes.count, to: &line)
                return .send(before: line, content: bytes, after: BodyEncoder.lineEnd)
            }
            guard !overflow, sum <= declared else {
                return .fail(.bodyLengthMismatch(declared: declared, given: sum))
            }
            offset = sum
            return .send(before: [], content: bytes, after: [])
        case .later:
            return .wait
        case .end(let trailers):
            guard let declared else {
                var bytes: [UInt8] = []
                do throws(HTTP1Error) {
                    try MessageSerializer.appendLastChunk(trailers: trailers ?? HTTPFields(), to: &bytes)
                } catch {
                    return .fail(.invalidRequest(.syntax(error)))
                }
                return .finish(bytes)
            }
            guard offset == declared else {
                return .fail(.bodyLengthMismatch(declared: declared, given: offset))
            }
            return .finish([])
        case .failed:
            return .fail(.bodyFailed)
        }
    }
}
