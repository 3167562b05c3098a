import Foundation
import TestSupport
import Testing
import UncurlExtras

@Suite("Decoding PNG")
struct PNGDecoderTests {
    @Test(
        "every color type and depth, interlaced or not, with transparencies and all filters",
        .rows("S9"),
        arguments: PNGVectors.all
    )
    func vectors(vector: PNGVectors.Vector) throws {
        let pixels = try PNGDecoder().pixels(of: vector.image)
        #expect(pixels.octets == vector.pixels)
        #expect(pixels.width * pixels.height * 4 == vector.pixels.count)
    }

    @Test(
        "an image cut before the end of its pixels is an error, and one cut behind them is whole",
        arguments: PNGVectors.all.filter { $0.name.hasPrefix("rgb") }
    )
    func cuts(vector: PNGVectors.Vector) throws {
        // IEND is the last chunk, and has no content.
        let pixels = vector.image.count - 12
        for end in 0..<pixels {
            #expect(throws: ImageFailure.self, "\(end)") { try PNGDecoder().pixels(of: vector.image.prefix(end)) }
        }
        for end in pixels..<vector.image.count {
            #expect(try PNGDecoder().pixels(of: vector.image.prefix(end)).octets == vector.pixels, "\(end)")
        }
    }

    @Test("an image with a bit changed in any octet of a critical chunk is an error")
    func changes() throws {
        let image = try #require(PNGVectors.all.first { $0.name == "indexed 4 interlaced" }).image
        var start = 8
        while start < image.count - 12 {
            let end = start + 12 + image[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            // A lower-case letter begins the name of a chunk that may be left out.
            for place in start..<end where image[start + 4] & 0x20 == 0 {
                var changed = image
                changed[place] ^= 1 << (place % 8)
                #expect(throws: ImageFailure.self, "\(place)") { try PNGDecoder().pixels(of: changed) }
            }
            start = end
        }
    }

    @Test("a comment or a transparency whose checksum is wrong is left out")
    func ancillaryChecksums() throws {
        var maker = PNGMaker()
        for type in ["tEXt", "tRNS"] {
            var chunk = PNGMaker.chunk(type, [0, 1])
            chunk[chunk.count - 1] ^= 1
            maker.before = [chunk]
            #expect(try PNGDecoder().pixels(of: maker.data).octets == PNGDecoder().pixels(of: PNGMaker().data).octets)
        }
    }

    @Test("an image without IEND, or with a piece of a chunk behind its pixels, is whole")
    func withoutEnd() throws {
        let pixels = PNGMaker.chunk("IDAT", PNGMaker.zlib(PNGMaker().raw))
        var maker = PNGMaker()
        for rest in [[], [Data([0, 0])], [PNGMaker.chunk("tEXt", [1, 2, 3]).prefix(9)]] {
            maker.rest = [pixels] + rest
            #expect(try PNGDecoder().pixels(of: maker.data).width == 2)
        }
        #expect(failure { $0.rest = [pixels.dropLast(20), Data()] } != nil)
    }

    @Test("an image that lies elsewhere than at the start of its data is decoded too")
    func slices() throws {
        let vector = PNGVectors.all[0]
        let data = Data([1, 2, 3]) + vector.image + Data([4])
        #expect(try PNGDecoder().pixels(of: data.dropFirst(3)).octets == vector.pixels)
    }

    private func failure(_ change: (inout PNGMaker) -> Void) -> String? {
        var maker = PNGMaker()
        change(&maker)
        let failure = #expect(throws: ImageFailure.self) { try PNGDecoder().pixels(of: maker.data) }
        return failure?.description
    }

    @Test("the maker's own image is one")
    func maker() throws {
        let pixels = try PNGDecoder().pixels(of: PNGMaker().data)
        #expect(pixels.octets == [1, 1, 1, 255, 2, 2, 2, 255, 3, 3, 3, 255, 4, 4, 4, 255])
        #expect(pixels[1, 1] == [4, 4, 4, 255] && pixels[2, 0] == nil && pixels[0, -1] == nil)
    }

    @Test("each sample of sixteen bits becomes the nearest of eight")
    func sixteenBits() throws {
        var maker = PNGMaker()
        (maker.width, maker.height, maker.depth) = (256, 256, 16)
        maker.raw = (0..<256).flatMap { high in
            [0] as [UInt8]
                + (0..<256).flatMap { [UInt8(truncatingIfNeeded: high), UInt8(truncatingIfNeeded: $0)] as [UInt8] }
        }
        let pixels = try PNGDecoder().pixels(of: maker.data).octets
        let expected = (0..<65_536).map { UInt8(truncatingIfNeeded: ($0 * 255 + 32_767) / 65_535) }
        #expect(stride(from: 0, to: pixels.count, by: 4).map { pixels[$0] } == expected)
    }

    @Test("headers that cannot be are refused")
    func headers() {
        for (color, depth) in [(0, 3), (0, 0), (2, 4), (3, 16), (4, 1), (6, 2), (1, 8), (5, 8), (7, 8)] {
            #expect(
                failure {
                    $0.color = color
                    $0.depth = depth
                }?.contains("color type") == true
            )
        }
        #expect(failure { $0.compression = 1 }?.contains("compression") == true)
        #expect(failure { $0.filter = 1 }?.contains("filter") == true)
        #expect(failure { $0.interlace = 2 }?.contains("interlace") == true)
        #expect(failure { $0.width = 0 } != nil && failure { $0.height = 0 } != nil)
        #expect(failure { $0.width = 1 << 31 }?.contains("31 bits") == true)
        #expect(failure { $0.rest = [] }?.contains("too early") == true)
        #expect(throws: ImageFailure.self) { try PNGDecoder().pixels(of: Data()) }
    }

    @Test("pixels that are too few, too many, or not what their checksum says are refused")
    func pixels() {
        #expect(failure { $0.raw.removeLast() }?.contains("too early") == true)
        #expect(failure { $0.raw.append(0) }?.contains("more pixels") == true)
        #expect(failure { $0.raw += Array(repeating: 0, count: 1 << 20) }?.contains("more pixels") == true)
        #expect(failure { $0.isAdlerRight = false } != nil)
        #expect(failure { $0.raw[0] = 5 }?.contains("row filter, 5") == true)
        let whole = PNGMaker.zlib(PNGMaker().raw)
        for end in 0..<whole.count {
            #expect(
                failure {
                    $0.rest = [PNGMaker.chunk("IDAT", Array(whole[..<end])), PNGMaker.chunk("IEND", [])]
                } != nil
            )
        }
    }

    @Test("invalid palettes and transparency chunks are refused")
    func palettes() {
        let palette = PNGMaker.chunk("PLTE", [1, 2, 3, 4, 5, 6])
        #expect(failure { $0.color = 3 }?.contains("no palette") == true)
        #expect(
            failure {
                $0.color = 3
                $0.before = [palette]
            }?.contains("beyond the palette") == true
        )
        #expect(
            failure {
                $0.color = 3
                $0.before = [PNGMaker.chunk("PLTE", [1, 2])]
            }?.contains("palette") == true
        )
        #expect(
            failure {
                $0.color = 3
                $0.before = [PNGMaker.chunk("PLTE", [])]
            }?.contains("palette") == true
        )
        #expect(
            failure {
                $0.color = 3
                $0.before = [palette, palette]
            }?.contains("palette") == true
        )
        #expect(failure { $0.before = [palette] }?.contains("palette") == true)
        let long = PNGMaker.chunk("PLTE", Array(repeating: 0, count: 9))
        #expect(
            failure {
                $0.color = 3
                $0.depth = 1
                $0.before = [long]
            }?.contains("palette") == true
        )
        let transparency = PNGMaker.chunk("tRNS", [1, 2, 3])
        #expect(
            failure {
                $0.color = 3
                $0.before = [palette, transparency]
            }?.contains("transparency") == true
        )
        #expect(
            failure {
                $0.color = 3
                $0.before = [transparency, palette]
            }?.contains("transparency") == true
        )
        #expect(
            failure {
                $0.color = 4
                $0.before = [transparency]
            }?.contains("transparency") == true
        )
        #expect(failure { $0.before = [transparency] }?.contains("transparency") == true)
    }

    @Test("chunks in the wrong order, and unknown critical ones, are refused; unknown others are skipped")
    func chunks() throws {
        let pixels = PNGMaker.zlib(PNGMaker().raw)
        let (first, second) = (
            PNGMaker.chunk("IDAT", Array(pixels[..<5])), PNGMaker.chunk("IDAT", Array(pixels[5...]))
        )
        let (text, end) = (PNGMaker.chunk("tEXt", [1]), PNGMaker.chunk("IEND", []))
        #expect(failure { $0.rest = [first, text, second, end] }?.contains("not consecutive") == true)
        #expect(failure { $0.rest = [end] }?.contains("no pixels") == true)
        #expect(failure { $0.rest = [PNGMaker.chunk("ABCD", []), first, second, end] }?.contains("ABCD") == true)
        #expect(failure { $0.rest = [first, second, PNGMaker.chunk("tRNS", [0, 0]), end] } != nil)
        var maker = PNGMaker()
        maker.rest = [text, first, PNGMaker.chunk("IDAT", []), second, text, end, Data("trailing".utf8)]
        #expect(try PNGDecoder().pixels(of: maker.data).width == 2)
    }

    @Test("dimensions beyond the limit are refused before anything is made, whatever the limit")
    func tooManyPixels() {
        var maker = PNGMaker()
        (maker.width, maker.height) = (4097, 4096)
        let failure = #expect(throws: ImageFailure.self) { try PNGDecoder().pixels(of: maker.data) }
        #expect(failure == .tooManyPixels(width: 4097, height: 4096, limit: 1 << 24))
        (maker.width, maker.height, maker.color, maker.depth) = (Int(Int32.max), Int(Int32.max), 6, 16)
        #expect(throws: ImageFailure.self) { try PNGDecoder(maximumPixels: .max).pixels(of: maker.data) }
        #expect(throws: ImageFailure.self) { try PNGDecoder(maximumPixels: -1).pixels(of: PNGMaker().data) }
    }

    @Test("a header that asks for more than its octets could ever inflate to is refused before memory is taken")
    func impossibleRatio() {
        for interlace in [0, 1] {
            var maker = PNGMaker()
            (maker.width, maker.height, maker.interlace) = (30_000, 30_000, interlace)
            let failure = #expect(throws: ImageFailure.self) {
                try PNGDecoder(maximumPixels: 1 << 40).pixels(of: maker.data)
            }
            #expect(failure == .truncated(.png))
        }
    }

    @Test("a wide image whose rows are larger than a window of the stream")
    func large() throws {
        var maker = PNGMaker()
        (maker.width, maker.height) = (70_000, 3)
        maker.raw = (0..<3).flatMap { row in [0] + (0..<70_000).map { UInt8(truncatingIfNeeded: $0 + row) } }
        let pixels = try PNGDecoder().pixels(of: maker.data)
        #expect(pixels[69_999, 2] == [UInt8(truncatingIfNeeded: 70_001), 113, 113, 255])
        #expect(pixels[0, 1] == [1, 1, 1, 255])
    }
}
