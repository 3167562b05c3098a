#if Brotli && Zstd
import UncurlReactor
import TestSupport
import Testing

@testable import UncurlEngine

/// The codings behind package traits, against their own commands.
@Suite("CodingTraitTests", .ownThread, .timeLimit(.minutes(5)))
struct CodingTraitTests {
    enum Coding: String, CaseIterable, Sendable {
        case br
        case zstd

        /// What its command makes of content.
        func encode(_ content: [UInt8], _ options: [String] = []) throws -> [UInt8] {
            let (plain, coded) = (TemporaryFile(content), TemporaryFile())
            let process = try ChildProcess(
                "/usr/bin/env",
                [self == .br ? "brotli" : "zstd"] + options + ["-c", plain.path],
                output: coded.path,
                error: "/dev/null"
            )
            #expect(try process.waitForEnd() == 0)
            return try FileBody(path: coded.path).octets()
        }
    }

    private let text = (0..<5_000).flatMap { Array("line \($0 * 7919 % 1000)\n".utf8) }

    /// Feeds `input` in pieces of `step` bytes and ends it.
    private func decode(
        _ input: [UInt8],
        as encoding: String,
        step: Int = .max,
        limits: DecodingLimits = DecodingLimits()
    ) throws -> [UInt8] {
        let decoder = try #require(try CodingDecoder.make(for: encoding, limits: limits))
        _ = try decoder.decodeWhole(input, step: step)
        // A second body through the same decoder is decoded as the first.
        decoder.reset()
        return try decoder.decodeWhole(input, step: step)
    }

    @Test("content comes out whole at any split, alone and under another coding", arguments: Coding.allCases)
    func splits(coding: Coding) throws {
        let coded = try coding.encode(text)
        for step in [1, 2, 7, 1_000, Int.max] { #expect(try decode(coded, as: coding.rawValue, step: step) == text) }
        let twice = try Coding.zstd.encode(coded)
        for step in [1, 7, Int.max] { #expect(try decode(twice, as: "\(coding), ZSTD", step: step) == text) }
        #expect(try decode(coding.encode([]), as: coding.rawValue) == [])
        #expect(try decode([], as: coding.rawValue) == [])
    }

    @Test("a stream that is cut, followed by something, or none at all is an error", arguments: Coding.allCases)
    func faults(coding: Coding) throws {
        let coded = try coding.encode(text)
        for length in stride(from: 1, to: coded.count, by: 101) {
            #expect(throws: ContentDecodingError.truncated) {
                try decode(Array(coded[..<length]), as: coding.rawValue)
            }
        }
        #expect(throws: ContentDecodingError.self) { try decode(coded + [9], as: coding.rawValue) }
        #expect(throws: ContentDecodingError.self) { try decode(coded + [9], as: coding.rawValue, step: 1) }
        #expect(throws: ContentDecodingError.self) {
            try decode(Array("garbage, not a stream".utf8), as: coding.rawValue)
        }
    }

    @Test("frames of zstd follow each other; streams of brotli do not")
    func frames() throws {
        let (frame, stream) = (try Coding.zstd.encode(text), try Coding.br.encode(text))
        #expect(try decode(frame + frame, as: "zstd", step: 5) == text + text)
        #expect(throws: ContentDecodingError.trailingBytes) { try decode(stream + stream, as: "br") }
    }

    @Test("limits bound what a body blows up to", arguments: Coding.allCases)
    func limits(coding: Coding) throws {
        let coded = try coding.encode([UInt8](repeating: 0, count: 8 << 20))
        #expect(throws: ContentDecodingError.tooLarge(limit: 1 << 20)) {
            try decode(coded, as: coding.rawValue, limits: DecodingLimits(bytes: 1 << 20))
        }
        #expect(throws: ContentDecodingError.tooExpansive(ratio: 100)) {
            try decode(coded, as: coding.rawValue, limits: DecodingLimits(ratio: 100))
        }
    }

    @Test("a window larger than HTTP has it is refused: 8 MiB of zstd (RFC 9659), 16 MiB of brotli (RFC 7932)")
    func windows() throws {
        var random = SplitMix(seed: 9)
        let noise = (0..<(10 << 20) / 8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        let wide = try Coding.zstd.encode(noise + noise, ["--long=27"])
        #expect(throws: ContentDecodingError.self) { try decode(wide, as: "zstd") }
        let large = try Coding.br.encode(noise + noise, ["-q", "5", "--large_window=28"])
        #expect(throws: ContentDecodingError.self) { try decode(large, as: "br") }
    }

    @Test("a request offers what is built in")
    func offered() { #expect(ContentCoding.accepted == "gzip, deflate, br, zstd") }
}

extension FileBody {
    /// All of a short file.
    fileprivate func octets() throws -> [UInt8] {
        let file = try open()
        var octets: [UInt8] = []
        while UInt64(octets.count) < length {
            let piece = try file.read(at: UInt64(octets.count), atMost: 1 << 20)
            if piece.isEmpty { break }
            octets += piece
        }
        return octets
    }
}
#endif
