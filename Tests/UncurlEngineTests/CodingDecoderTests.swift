import CUncurlZlib
import Testing

@testable import UncurlEngine

@Suite("Content decoding (RFC 9110 §8.4)")
struct ContentDecoderTests {
    /// Feeds `input` in pieces of `step` bytes and ends it.
    private func decode(
        _ input: [UInt8],
        as encoding: String,
        step: Int = .max,
        limits: DecodingLimits = DecodingLimits()
    ) throws -> [UInt8] {
        try #require(try CodingDecoder.make(for: encoding, limits: limits)).decodeWhole(input, step: step)
    }

    private let text = (0..<5_000).flatMap { Array("line \($0 * 7919 % 1000)\n".utf8) }

    @Test("gzip, zlib and raw deflate come out whole at any split", arguments: [1, 2, 7, 1_000, Int.max])
    func splits(step: Int) throws {
        #expect(try decode(compress(text, windowBits: 31), as: "gzip", step: step) == text)
        #expect(try decode(compress(text, windowBits: 31), as: "X-GZip", step: step) == text)
        #expect(try decode(compress(text, windowBits: 15), as: "deflate", step: step) == text)
        #expect(try decode(compress(text, windowBits: -15), as: "deflate", step: step) == text)
    }

    @Test("codings are undone last to first, up to three of them")
    func chain() throws {
        let once = compress(text, windowBits: 15)
        let twice = compress(once, windowBits: 31)
        let thrice = compress(twice, windowBits: -15)
        #expect(try decode(twice, as: "deflate, gzip", step: 3) == text)
        #expect(try decode(thrice, as: "deflate ,gzip,\tdeflate") == text)
        #expect(throws: ContentDecodingError.tooManyCodings(4)) {
            try CodingDecoder.make(for: "gzip, gzip, gzip, gzip", limits: DecodingLimits())
        }
    }

    @Test("unknown codings, identity and nothing at all leave the content as it is")
    func unknown() throws {
        for encoding in ["sdch", "gzip, sdch", "identity", "", " , "] {
            #expect(try CodingDecoder.make(for: encoding, limits: DecodingLimits()) == nil)
        }
    }

    @Test("gzip members follow each other, zeros may pad, anything else is an error")
    func members() throws {
        let member = compress(text, windowBits: 31)
        let empty = compress([], windowBits: 31)
        #expect(try decode(member + empty + member, as: "gzip", step: 5) == text + text)
        #expect(try decode(member + [0, 0, 0, 0], as: "gzip", step: 1) == text)
        #expect(throws: ContentDecodingError.trailingBytes) { try decode(member + [9], as: "gzip") }
        #expect(throws: ContentDecodingError.trailingBytes) {
            try decode(compress(text, windowBits: 15) + [1], as: "deflate")
        }
    }

    @Test("every header flag of RFC 1952 is read over")
    func flags() throws {
        let deflated = compress(text, windowBits: -15)
        let trailer = Array(compress(text, windowBits: 31).suffix(8))
        let extra: [UInt8] = [3, 0, 1, 2, 3]
        let name = Array("name\0".utf8)
        for flags in 0..<32 as Range<UInt8> where flags & 2 == 0 {
            var head: [UInt8] = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 255]
            if flags & 4 != 0 { head += extra }
            if flags & 8 != 0 { head += name }
            if flags & 16 != 0 { head += name }
            #expect(try decode(head + deflated + trailer, as: "gzip", step: 1) == text)
        }
        #expect(throws: ContentDecodingError.self) {
            try decode([0x1F, 0x8B, 8, 0x20, 0, 0, 0, 0, 0, 255] + deflated + trailer, as: "gzip")
        }
    }

    @Test("a cut stream is truncated at every offset, a broken checksum or length is corrupt")
    func damage() throws {
        let small = compress(Array("hello, world".utf8), windowBits: 31)
        for end in 1..<small.count {
            #expect(throws: ContentDecodingError.truncated) { try decode(Array(small[..<end]), as: "gzip") }
        }
        for index in (small.count - 8)..<small.count {
            var broken = small
            broken[index] ^= 0x55
            #expect(throws: ContentDecodingError.self) { try decode(broken, as: "gzip") }
        }
        let zlib = compress(Array("hello".utf8), windowBits: 15)
        for end in 1..<zlib.count {
            #expect(throws: ContentDecodingError.truncated) { try decode(Array(zlib[..<end]), as: "deflate") }
        }
    }

    @Test("no content at all is whole")
    func empty() throws { #expect(try decode([], as: "gzip").isEmpty) }

    @Test("a preset dictionary is refused")
    func dictionary() {
        // CMF 0x78, FDICT set, check bits right; then a dictionary id.
        #expect(throws: ContentDecodingError.presetDictionary) {
            try decode([0x78, 0xBB, 0, 0, 0, 1, 3, 0], as: "deflate")
        }
    }

    @Test("a bomb is handed out a buffer at a time, and the limits stop it")
    func bombs() throws {
        let zeros = [UInt8](repeating: 0, count: 10_000_000)
        let bomb = compress(zeros, windowBits: 31)
        #expect(bomb.count < 20_000)
        #expect(throws: ContentDecodingError.tooLarge(limit: 100_000)) {
            try decode(bomb, as: "gzip", limits: DecodingLimits(bytes: 100_000))
        }
        #expect(throws: ContentDecodingError.tooExpansive(ratio: 100)) {
            try decode(bomb, as: "gzip", limits: DecodingLimits(ratio: 100))
        }
        #expect(try decode(bomb, as: "gzip", limits: DecodingLimits(bytes: 10_000_000, ratio: 1_100)) == zeros)
    }

    @Test("a chain of codings may not decode far more on the way than has come, even if its last coding gives nothing")
    func chainBombs() throws {
        // A gzip header with a file name that goes on: zlib reads it, and nothing comes out.
        let name = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 255] + [UInt8](repeating: UInt8(ascii: "A"), count: 64 << 20)
        let once = compress(name, windowBits: 31)
        let twice = compress(once, windowBits: 31)
        #expect(twice.count < 2_000)
        #expect(throws: ContentDecodingError.tooExpansive(ratio: 1_100)) {
            try decode(twice, as: "gzip, gzip, gzip")
        }
        // One coding on top of another reaches what zlib does, and no more.
        #expect(throws: ContentDecodingError.truncated) { try decode(once, as: "gzip, gzip") }
        let zeros = compress([UInt8](repeating: 0, count: 10_000_000), windowBits: 31)
        let decoder = try #require(try CodingDecoder.make(for: "gzip, gzip", limits: DecodingLimits()))
        #expect(try decoder.decodeWhole(compress(zeros, windowBits: 31), step: 7).count == 10_000_000)
        decoder.reset()
        #expect(try decoder.decodeWhole(compress(zeros, windowBits: 31), step: .max).count == 10_000_000)
    }

    @Test("a decoder may serve one body after the other")
    func reset() throws {
        let decoder = try #require(try CodingDecoder.make(for: "deflate", limits: DecodingLimits()))
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 100_000)
        defer { buffer.deallocate() }
        for windowBits in [15, -15, 15] as [CInt] {
            let input = compress(text, windowBits: windowBits)
            var offset = 0
            let count = try decoder.decode(input.span, from: &offset, into: buffer)
            #expect(Array(buffer[..<count]) == text)
            try decoder.finish()
            decoder.reset()
        }
    }

    @Test("a coding with a combining mark is unknown: the content stays as it is")
    func combiningMarks() throws {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for field in ["gzip\u{301}", "identity\u{301}", "gzip, \u{301}", run] {
            #expect(try ContentCoding.parse(field) == nil)
        }
        #expect(try ContentCoding.parse("gzip, identity") == [.gzip])
    }
}
