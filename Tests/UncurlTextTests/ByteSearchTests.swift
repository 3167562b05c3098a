import TestSupport
import Testing
import UncurlText

@Suite("Searches in bytes")
struct ByteSearchTests {
    @Test("the first place of a text is found, from any place on, as by a comparison at each")
    func first() {
        var random = SplitMix(seed: 1)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random)
            }
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            for start in 0...bytes.count + 1 {
                let expected = bytes.indices.first { $0 >= start && bytes[$0...].starts(with: text) }
                #expect(ByteSearch(text).first(in: bytes, from: start) == expected, "\(text) in \(bytes)")
            }
        }
    }
}
