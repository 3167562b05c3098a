import UncurlEngine

/// Any octets as any chain of codings: no trap, no more output than the limit allows, and the same content and verdict
/// however the input and the output are cut.
///
/// The first octet chooses the codings, the second the limit, the third and fourth how the input is cut.
public func contentDecoderProperty(_ input: [UInt8]) {
    guard input.count >= 4 else { return }
    let chains = [
        "gzip", "deflate", "x-gzip", "gzip, deflate", "deflate, gzip", "gzip, gzip, gzip", "GZIP , identity", "",
    ]
    let encoding = chains[Int(input[0]) % chains.count]
    let limits = DecodingLimits(bytes: input[1] == 0 ? 1 << 20 : UInt64(input[1]) * 16)
    let raw = Array(input[4...])
    let whole = decode(raw, encoding, limits, piece: raw.count, room: 4096)
    let cut = decode(raw, encoding, limits, piece: Int(input[2]) % 16 + 1, room: Int(input[3]) % 64 + 1)
    guard let whole, let cut else {
        require((whole == nil) == (cut == nil), "whether we undo a chain does not depend on the content")
        return
    }
    require(UInt64(whole.content.count) <= (limits.bytes ?? .max) + 4096, "output stays near its limit")
    // Which of two faults is met first may: little room meets the limit before the checksum behind it.
    require(
        (whole.error == nil) == (cut.error == nil),
        "the verdict does not depend on the cuts: \(whole.error as Any) \(cut.error as Any)"
    )
    let common = min(whole.content.count, cut.content.count)
    require(whole.content.prefix(common) == cut.content.prefix(common), "nor does the content")
    require(whole.error != nil || whole.content.count == cut.content.count, "nor its length")
}

private struct Decoded {
    var content: [UInt8] = []
    var error: ContentDecodingError?
}

private func decode(_ raw: [UInt8], _ encoding: String, _ limits: DecodingLimits, piece: Int, room: Int) -> Decoded? {
    var decoded = Decoded()
    let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
    defer { output.deallocate() }
    do throws(ContentDecodingError) {
        guard let decoder = try CodingDecoder.make(for: encoding, limits: limits) else { return nil }
        var start = 0
        while start < raw.count {
            let end = min(raw.count, start + max(piece, 1))
            var offset = 0
            while true {
                let count = try decoder.decode(raw.span.extracting(start..<end), from: &offset, into: output)
                require(count <= room && offset <= end - start, "no more is used or written than there is")
                if count == 0 { break }
                decoded.content += output[..<count]
            }
            require(offset == end - start, "all of the input is used before more is asked for")
            start = end
        }
        try decoder.finish()
    } catch {
        decoded.error = error
    }
    return decoded
}

/// Ends the process where a property does not hold: the fuzzer takes that for a finding, a test run for a failure.
private func require(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError("property violated: \(sentence())") }
}
