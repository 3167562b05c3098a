import HTTPEngine

/// However coded content is cut, and however small the room it is decoded into, it gives the same bytes and ends the same
/// way. The first byte chooses the codings and limits, the second the cuts, the rest is the content.
@Sendable public func decoderProperty(_ input: [UInt8]) {
    guard input.count >= 2 else { return }
    let encodings = ["gzip", "deflate", "deflate, gzip", "gzip, deflate, deflate"]
    let encoding = encodings[Int(input[0] & 3)]
    var limits = DecodingLimits()
    if input[0] & 4 != 0 { limits.bytes = UInt64(input[0] >> 3) * 64 }
    if input[0] & 8 != 0 { limits.ratio = Int(input[0] >> 4) }
    let content = Array(input.dropFirst(2))
    let whole = decode(content, encoding, limits, step: .max, room: 1 << 16)
    let cut = decode(content, encoding, limits, step: Int(input[1] & 15) + 1, room: Int(input[1] >> 4) * 7 + 1)
    precondition(
        (whole.error == nil) == (cut.error == nil),
        "\(encoding): \(whole.error as Any), cut: \(cut.error as Any)"
    )
    // Of two faults, in two codings or beyond a limit, the room decides which is met first.
    if limits == DecodingLimits(), !encoding.contains(",") {
        precondition(whole.error == cut.error, "\(encoding): \(whole.error as Any), cut: \(cut.error as Any)")
    }
    if whole.error == nil {
        precondition(whole.output == cut.output, "\(encoding): the bytes depend on the cuts")
        if let limit = limits.bytes { precondition(whole.output.count <= limit, "more than the limit came out") }
    }
}

private func decode(
    _ content: [UInt8],
    _ encoding: String,
    _ limits: DecodingLimits,
    step: Int,
    room: Int
) -> (output: [UInt8], error: ContentDecodingError?) {
    /// Deep chains blow a kilobyte up to more than a fuzzer's memory; the property is the same for a part.
    let enough = 1 << 22
    var output: [UInt8] = []
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
    defer { buffer.deallocate() }
    do throws(ContentDecodingError) {
        guard let decoder = try ContentDecoder.make(for: encoding, limits: limits) else { return ([], nil) }
        var start = 0
        while start < content.count {
            let end = min(content.count, start + min(step, content.count))
            let piece = Array(content[start..<end])
            var offset = 0
            while true {
                let before = offset
                let count = try decoder.decode(piece.span, from: &offset, into: buffer)
                precondition(offset >= before && offset <= piece.count && count <= room)
                if count == 0 { break }
                output += buffer[..<count]
                if output.count > enough { return ([], nil) }
            }
            precondition(offset == piece.count, "input was left over though nothing more came")
            start = end
        }
        try decoder.finish()
        return (output, nil)
    } catch {
        return (output, error)
    }
}
