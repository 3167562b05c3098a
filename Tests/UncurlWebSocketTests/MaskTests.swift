import TestSupport
import Testing

@testable import UncurlWebSocket

@Suite struct MaskTests {
    @Test("every length, start and offset masks as RFC 6455 §5.3 does it, octet by octet")
    func reference() {
        var random = SplitMix(seed: 1)
        for length in 0..<40 {
            for start in 0..<3 {
                for offset in 0..<5 {
                    let key = UInt32(truncatingIfNeeded: random.next())
                    let bytes = (0..<start + length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                    var expected = bytes
                    for index in 0..<length {
                        expected[start + index] ^= UInt8(
                            truncatingIfNeeded: key >> UInt32(24 - 8 * ((offset + index) % 4))
                        )
                    }
                    var masked = bytes
                    Mask(key).apply(to: &masked, from: start, offset: offset)
                    #expect(masked == expected)
                    Mask(key).apply(to: &masked, from: start, offset: offset)
                    #expect(masked == bytes)
                }
            }
        }
    }

    @Test("the RFC's own example: Hello under 37fa213d")
    func example() {
        var bytes = Array("Hello".utf8)
        Mask(0x37FA_213D).apply(to: &bytes, from: 0)
        #expect(bytes == [0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }
}
