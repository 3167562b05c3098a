import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import UncurlExtras

@Suite("Hostile images")
struct HostileImageTests {
    @Test("images: headers and pixels")
    func images() {
        Storm.run(8, PNGVectors.all.map(\.image), orThrowing: ImageFailure.self) {
            _ = try ImageResponseSerializer().serialize(answer($0))
        }
    }

    @Test("Hostile PNGs with correct checksums")
    func pixels() {
        var chance = SplitMix(seed: 9)
        for round in 0..<Storm.rounds {
            var maker = PNGMaker()
            maker.width = .random(in: 1...9, using: &chance)
            maker.height = .random(in: 1...9, using: &chance)
            maker.color = [0, 2, 3, 4, 6][Int.random(in: 0..<5, using: &chance)]
            maker.depth = [1, 2, 4, 8, 16][Int.random(in: 0..<5, using: &chance)]
            maker.interlace = .random(in: 0...1, using: &chance)
            let palette = (0..<(3 * Int.random(in: 1...4, using: &chance))).map { UInt8($0) }
            if maker.color == 3 { maker.before = [PNGMaker.chunk("PLTE", palette)] }
            if Bool.random(using: &chance) {
                let length = [1, 2, 6][Int.random(in: 0..<3, using: &chance)]
                maker.before.append(PNGMaker.chunk("tRNS", Array(repeating: 0, count: length)))
            }
            let raw = (0..<Int.random(in: 0...700, using: &chance)).map { _ in UInt8.random(in: 0...4, using: &chance) }
            let compressed = Storm.changed(Data(PNGMaker.zlib(raw)), &chance)
            let isChanged = Bool.random(using: &chance)
            maker.raw = raw
            if isChanged {
                maker.rest = maker.before + [PNGMaker.chunk("IDAT", Array(compressed)), PNGMaker.chunk("IEND", [])]
            }
            do {
                let pixels = try PNGDecoder().pixels(of: maker.data)
                #expect(pixels.octets.count == maker.width * maker.height * 4)
            } catch {
                #expect(!"\(error)".isEmpty, "round \(round)")
            }
        }
    }
}
