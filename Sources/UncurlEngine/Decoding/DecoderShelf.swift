/// Decoders that are kept for the next response in the same coding: zlib's window alone is 32 KiB.
struct DecoderShelf {
    /// How many parallel responses in one coding need no new decoder.
    private static let capacity = 8

    private var spare: [CodingDecoder] = []

    mutating func take(_ encoding: String, _ limits: DecodingLimits) -> CodingDecoder? {
        guard let index = spare.lastIndex(where: { $0.encoding == encoding && $0.limits == limits }) else { return nil }
        let decoder = spare.remove(at: index)
        decoder.reset()
        return decoder
    }

    mutating func keep(_ decoder: CodingDecoder) {
        // The oldest is dropped: a coding that a server invented once must not stay for ever.
        if spare.count == DecoderShelf.capacity { spare.removeFirst() }
        spare.append(decoder)
    }
}
