/// Undoes a body's content codings, last applied first, as a stream: what goes in may be cut anywhere, what comes
/// out comes in pieces of at most one buffer.
///
/// Pulled, not pushed: the owner asks for one buffer at a time and may stop between two, so that a
/// consumer's pause holds back even what a kilobyte of zeros would blow up to.
public final class ContentDecoder {
    /// Decoded bytes handed out at a time.
    public static let bufferSize = 64 * 1024
    /// Between two codings of a chain.
    private static let linkSize = 16 * 1024

    @safe private struct Stage {
        let inflater: Inflater
        /// What the stage before has decoded for this one. The first stage reads the wire.
        var link: UnsafeMutableBufferPointer<UInt8>?
        var pending: Range<Int> = 0..<0
    }

    private var stages: [Stage]
    /// The field's value this undoes.
    let encoding: String
    let limits: DecodingLimits
    private var consumed: UInt64 = 0
    private var produced: UInt64 = 0

    /// - Parameters:
    ///   - encoding: a Content-Encoding field's value. Nil comes back for codings we do not undo,
    ///     and for none at all: the content is then delivered as it is.
    ///   - limits: on what comes out.
    public static func make(
        for encoding: String,
        limits: DecodingLimits
    ) throws(ContentDecodingError) -> ContentDecoder? {
        guard let codings = try ContentCoding.parse(encoding), !codings.isEmpty else { return nil }
        return try ContentDecoder(codings, encoding, limits)
    }

    private init(_ codings: [ContentCoding], _ encoding: String, _ limits: DecodingLimits) throws(ContentDecodingError)
    {
        self.encoding = encoding
        self.limits = limits
        stages = []
        for coding in codings.reversed() {
            let link = stages.isEmpty ? nil : UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.linkSize)
            do throws(ContentDecodingError) {
                unsafe stages.append(Stage(inflater: try Inflater(coding), link: link))
            } catch {
                unsafe link?.deallocate()
                throw error
            }
        }
    }

    deinit {
        for stage in stages { unsafe stage.link?.deallocate() }
    }

    /// Ready for another body with the same codings and limits; keeps zlib's windows.
    func reset() {
        for index in stages.indices {
            stages[index].inflater.reset()
            stages[index].pending = 0..<0
        }
        (consumed, produced) = (0, 0)
    }

    /// Decodes the next buffer. `offset` moves over `input` as it is used up. Zero: more input is needed.
    public func decode(
        _ input: Span<UInt8>,
        from offset: inout Int,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> Int {
        let start = offset
        let count = try unsafe input.withUnsafeBufferPointer { input throws(ContentDecodingError) in
            try unsafe pull(stages.count - 1, input, &offset, output)
        }
        consumed += UInt64(offset - start)
        produced += UInt64(count)
        if let limit = limits.bytes, produced > limit { throw .tooLarge(limit: limit) }
        if let ratio = limits.ratio, produced > DecodingLimits.ratioGrace,
            produced / max(1, UInt64(clamping: ratio)) > consumed
        {
            throw .tooExpansive(ratio: ratio)
        }
        return count
    }

    /// The content has ended; throws if the coded stream has not. Content of no bytes at all is whole (HEAD, 204).
    public func finish() throws(ContentDecodingError) {
        guard consumed > 0 else { return }
        guard stages.allSatisfy({ $0.pending.isEmpty && $0.inflater.mayEnd }) else { throw .truncated }
    }

    private func pull(
        _ index: Int,
        _ input: UnsafeBufferPointer<UInt8>,
        _ offset: inout Int,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> Int {
        guard let link = unsafe stages[index].link else {
            let rest = unsafe UnsafeBufferPointer(rebasing: input[offset...])
            let step = try unsafe stages[index].inflater.inflate(rest, into: output)
            offset += step.consumed
            return step.produced
        }
        while true {
            if stages[index].pending.isEmpty {
                // Nothing new below, but zlib may still hold back what the last output had no room for.
                let count = try unsafe pull(index - 1, input, &offset, link)
                stages[index].pending = 0..<count
            }
            let pending = stages[index].pending
            let step = try unsafe stages[index].inflater.inflate(
                UnsafeBufferPointer(rebasing: link[pending]),
                into: output
            )
            stages[index].pending = (pending.lowerBound + step.consumed)..<pending.upperBound
            if step.produced > 0 { return step.produced }
            if pending.isEmpty { return 0 }
        }
    }
}
