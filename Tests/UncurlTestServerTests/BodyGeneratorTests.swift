import Testing

@testable import UncurlTestServer

@Suite struct BodyGeneratorTests {
    private func all(_ generator: BodyGenerator) -> (bytes: [UInt8], pauses: Int, pieces: Int) {
        var generator = generator
        var (bytes, pauses, pieces): ([UInt8], Int, Int) = ([], 0, 0)
        while true {
            switch generator.next(into: &bytes) {
            case .piece: pieces += 1
            case .pause: pauses += 1
            case .end: return (bytes, pauses, pieces)
            }
        }
    }

    @Test("the same seed gives the same octets in pieces of any size", arguments: [1, 7, 1000, 20_000])
    func seeded(piece: Int) {
        let bytes = all(.random(20_000, seed: 3, piece: piece)).bytes
        #expect(bytes == [UInt8].random(20_000, seed: 3))
        #expect(bytes != [UInt8].random(20_000, seed: 4))
    }

    @Test("a pause comes between two pieces, never before the first or after the last")
    func pauses() {
        let spaced = all(.repeating([1], times: 4, every: .seconds(1)))
        #expect(spaced.bytes == [1, 1, 1, 1])
        #expect(spaced.pauses == 3)
        #expect(all(.numbered(1..<3, every: .seconds(1)) { [UInt8($0)] }).pauses == 1)
        #expect(all(.repeating([1], times: 0, every: .seconds(1))).pauses == 0)
    }

    @Test("a cyclic body has the given start and length")
    func cyclic() {
        let whole = all(.cyclic(Array("abc".utf8), from: 0, count: 40_000)).bytes
        #expect(whole.count == 40_000)
        #expect(all(.cyclic(Array("abc".utf8), from: 10_001, count: 20_000)).bytes == Array(whole[10_001..<30_001]))
    }

    @Test("a numbered body makes each piece when it is sent")
    func numbered() {
        var generator = BodyGenerator.numbered(1..<UInt64.max) { Array("\($0) ".utf8) }
        var bytes: [UInt8] = []
        for _ in 0..<3 { #expect(generator.next(into: &bytes) == .piece) }
        #expect(bytes == Array("1 2 3 ".utf8))
        #expect(all(.numbered(3..<3) { _ in [] }).pieces == 0)
    }

    @Test("an endless body does not count down")
    func endless() {
        var generator = BodyGenerator.repeating([7], times: .max)
        var bytes: [UInt8] = []
        for _ in 0..<1000 { #expect(generator.next(into: &bytes) == .piece) }
        #expect(bytes.count == 1000)
    }
}
