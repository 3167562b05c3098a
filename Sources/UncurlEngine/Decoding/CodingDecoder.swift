/// Decodes a body's content codings, the last applied first, as a stream: the input may be cut anywhere, and the output
/// comes in pieces of at most one buffer.
///
/// The owner asks for one buffer at a time and may stop between two, so that a paused consumer holds back even what a
/// kilobyte of zeros would expand to.
public final class CodingDecoder {
    /// How many decoded bytes are returned at a time.
    public static let bufferSize = 64 * 1024
    /// The size of the buffer between two codings of a chain.
    private static let linkSize = 16 * 1024

    @safe private struct Stage {
        let stream: any CodedStream
        /// What the stage before has decoded for this one. The first stage reads the wire.
        var link: UnsafeMutableBufferPointer<UInt8>?
        var pending: Range<Int> = 0..<0
    }

    private var stages: [Stage]
    let encoding: String
    let limits: DecodingLimits
    private var consumed: UInt64 = 0
    private var produced: UInt64 = 0
    /// What the codings of a chain have written for each other.
    private var linked: UInt64 = 0

    /// Makes a decoder. Returns nil for codings that are not decoded here, and for no coding at all: the content is
    /// then delivered as it is.
    ///
    /// - Parameters:
    ///   - encoding: the value of a Content-Encoding field.
    ///   - limits: the limits on the output.
    public static func make(
        for encoding: String,
        limits: DecodingLimits
    ) throws(ContentDecodingError) -> CodingDecoder? {
        guard let codings = try ContentCoding.parse(encoding), !codings.isEmpty else { return nil }
        return try CodingDecoder(codings, encoding, limits)
    }

    private init(_ codings: [ContentCoding], _ encoding: String, _ limits: DecodingLimits) throws(ContentDecodingError)
    {
        self.encoding = encoding
        self.limits = limits
        stages = []
        for coding in codings.reversed() {
            let link = stages.isEmpty ? nil : UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.linkSize)
            do throws(ContentDecodingError) {
                unsafe stages.append(Stage(stream: try coding.makeStream(), link: link))
            } catch {
                unsafe link?.deallocate()
                throw error
            }
        }
    }

    deinit {
        for stage in stages { unsafe stage.link?.deallocate() }
    }

    /// Ready for another body with the same codings and limits; keeps the windows.
    func reset() {
        for index in stages.indices {
            stages[index].stream.reset()
            stages[index].pending = 0..<0
        }
        (consumed, produced, linked) = (0, 0, 0)
    }

    /// Decodes the next buffer. `offset` advances over `input` as it is used. Returns 0 if more input is needed.
    public func decode(
        _ input: Span<UInt8>,
        from offset: inout Int,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> Int {
        let count = try unsafe input.withUnsafeBufferPointer { input throws(ContentDecodingError) in
            try unsafe pull(stages.count - 1, input, &offset, output)
        }
        produced += UInt64(count)
        if let limit = limits.bytes, produced > limit { throw .tooLarge(limit: limit) }
        if let ratio = limits.ratio, produced > DecodingLimits.ratioGrace,
            produced / max(1, UInt64(clamping: ratio)) > consumed
        {
            throw .tooExpansive(ratio: ratio)
        }
        return count
    }

    /// Notes the end of the content. Throws if the coded stream has not ended. Empty content is complete (HEAD, 204).
    public func finish() throws(ContentDecodingError) {
        guard consumed > 0 else { return }
        guard stages.allSatisfy({ $0.pending.isEmpty && $0.stream.mayEnd }) else { throw .truncated }
    }

    private func pull(
        _ index: Int,
        _ input: UnsafeBufferPointer<UInt8>,
        _ offset: inout Int,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> Int {
        guard let link = unsafe stages[index].link else {
            let rest = unsafe UnsafeBufferPointer(rebasing: input[offset...])
            let step = try unsafe stages[index].stream.decode(rest, into: output)
            offset += step.consumed
            consumed += UInt64(step.consumed)
            return step.produced
        }
        while true {
            if stages[index].pending.isEmpty {
                // The stage before has no more input, but a library may still hold output for which there was no room.
                let count = try unsafe pull(index - 1, input, &offset, link)
                stages[index].pending = 0..<count
                try noteLinked(count)
            }
            let pending = stages[index].pending
            let step = try unsafe stages[index].stream.decode(
                UnsafeBufferPointer(rebasing: link[pending]),
                into: output
            )
            stages[index].pending = (pending.lowerBound + step.consumed)..<pending.upperBound
            if step.produced > 0 { return step.produced }
            if pending.isEmpty { return 0 }
        }
    }

    /// Counts what one coding of a chain has written for the next, which may use up any amount of it without output: a
    /// gzip header may have a file name of any length (RFC 1952 §2.3.1). The limits on the output do not see that.
    private func noteLinked(_ count: Int) throws(ContentDecodingError) {
        linked += UInt64(count)
        if linked > DecodingLimits.ratioGrace, linked / UInt64(DecodingLimits.linkRatio) > consumed {
            throw .tooExpansive(ratio: DecodingLimits.linkRatio)
        }
    }
}
