internal import UncurlHTTP1

/// Turns the parts of a streamed body into what the framing needs, and checks them against the declared length: a body
/// of another length must never look like a whole message (RFC 9112 §6.3, HTTP desync).
struct BodyEncoder {
    /// What to do with a part.
    enum Step {
        /// Send these; the middle one is content.
        case send(before: [UInt8], content: [UInt8], after: [UInt8])
        /// Send these bytes: they complete the body.
        case finish([UInt8])
        case ask
        case wait
        case fail(EngineError)
    }

    private let declared: UInt64?
    private var framer: ContentFramer
    /// How much content was taken from the source so far: the next part begins there.
    private(set) var offset: UInt64 = 0

    /// - Parameter length: nil for chunked framing.
    init(length: UInt64?) {
        declared = length
        framer = ContentFramer(length: length)
    }

    mutating func encode(_ part: BodyPart) -> Step {
        switch part {
        case .bytes(let bytes):
            // An empty chunk would end the body (RFC 9112 §7.1).
            guard !bytes.isEmpty else { return .ask }
            let (sum, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            if let declared, overflow || sum > declared {
                return .fail(.bodyLengthMismatch(declared: declared, given: sum))
            }
            offset = sum
            let framed = framer.frame(bytes)
            return .send(before: framed.before, content: framed.content, after: framed.after)
        case .later:
            return .wait
        case .end(let trailers):
            if let declared, offset != declared {
                return .fail(.bodyLengthMismatch(declared: declared, given: offset))
            }
            do throws(EngineError) {
                return .finish(try framer.end(trailers: trailers ?? HTTPFields()))
            } catch {
                return .fail(error)
            }
        case .failed:
            return .fail(.bodyFailed)
        }
    }
}
