import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import UncurlExtras

@Suite("Images of answers")
struct ImageSerializerTests {
    private static func octets(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

    /// As other programs make them, 21 by 13 pixels, cut behind the header.
    private static let headers: [(ImageFormat, Data)] = [
        (.gif, octets("R0lGODdhFQANAIAAAAAAAAAAACwAAAAA")),
        (
            .tiff,
            octets(
                "SUkqAAgAAAAKAAABBAABAAAAFQAAAAEBBAABAAAADQAAAAIBAwADAAAAhgAAAAMBAwABAAAAAQAAAAYBAwABAAAAAgAAABEBBAAB"
            )
                + Data(count: 120)
        ),
        (
            .tiff,
            Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2, 1, 0, 0, 3, 0, 0, 0, 1, 0, 21, 0, 0])
                + Data([1, 1, 0, 3, 0, 0, 0, 1, 0, 13, 0, 0])
        ),
        (.bmp, octets("Qk12AwAAAAAAADYAAAAoAAAAFQAAAA0AAAABABgAAAAAAEADAAA=")),
        (.bmp, Data("BM".utf8) + Data(count: 12) + Data([40, 0, 0, 0, 21, 0, 0, 0, 0xF3, 0xFF, 0xFF, 0xFF])),
        (.bmp, Data("BM".utf8) + Data(count: 12) + Data([12, 0, 0, 0, 21, 0, 13, 0])),
        (.webp, octets("UklGRjAAAABXRUJQVlA4ICQAAACwAgCdASoVAA0APm0skUWkIqGYBABABsS0gAA9")),
        (.webp, octets("UklGRhoAAABXRUJQVlA4TA4AAAAvFAADAAcQEf0PRET/Aw==")),
        (.webp, octets("UklGRmQAAABXRUJQVlA4WAoAAAAYAAAAFAAADAAAQUxQSA8AAAABBw==")),
        (.jpeg, Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC0, 0, 17, 8, 0, 13, 0, 21, 3])),
        (.jpeg, Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 7, 0xFF, 0, 9, 0xFF, 0xC0, 0, 17, 8, 0, 13, 0, 21, 3])),
        (.jpeg, Data([0xFF, 0xD8, 0xFF, 0xC4, 0, 3, 9, 0xFF, 0xD0, 0xFF, 0xC2, 0, 17, 8, 0, 13, 0, 21, 3])),
        (.ico, Data([0, 0, 1, 0, 2, 0, 5, 5]) + Data(count: 14) + Data([21, 13]) + Data(count: 14)),
    ]

    @Test("format and size by the octets, whatever the media type says", .rows("S9"), arguments: headers)
    func sizes(format: ImageFormat, data: Data) throws {
        let header = try ImageHeader(reading: data)
        #expect(header.format == format && header.width == 21 && header.height == 13)
        let outcome = ImageResponseSerializer().outcome(of: answer(data, type: "image/png"))
        #expect(outcome.error == nil)
        #expect(outcome.value?.format == format && outcome.value?.pixels == nil && outcome.value?.data == data)
    }

    @Test("a header cut anywhere is an error or has its size, and never a trap", .rows("S9"), arguments: headers)
    func cuts(format: ImageFormat, data: Data) {
        for end in 0..<data.count {
            let header = try? ImageHeader(reading: data.prefix(end))
            #expect(header == nil || (header?.format == format))
            for octet: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var changed = data
                changed[changed.startIndex + end] = octet
                _ = try? ImageHeader(reading: changed)
            }
        }
        #expect(throws: ImageFailure.self) { try ImageHeader(reading: data.prefix(8)) }
    }

    @Test(
        "content that is no image is a failure of the kind image",
        .rows("S9"),
        arguments: ["", "x", "<svg>", "GIF90a", "\u{7F}PNG", "RIFFxxxxWAVE"]
    )
    func unknown(text: String) {
        let failure = ImageResponseSerializer().outcome(of: answer(text, type: "image/png")).serializationFailure
        switch (failure?.reason, failure?.underlying as? ImageFailure) {
        case (.empty, nil) where text.isEmpty: break
        case (.image, .unknownFormat): break
        default: Issue.record("\(String(describing: failure))")
        }
    }

    @Test(
        "the original's media types are acceptable, and those of other images",
        .rows("S9"),
        arguments: ["tiff", "jpeg", "gif", "png", "ico", "x-icon", "bmp", "x-bmp", "x-xbitmap", "x-win-bitmap", "webp"]
    )
    func types(subtype: String) {
        let serializer = ImageResponseSerializer()
        #expect(serializer.validation.failure(of: answer("x", type: "image/\(subtype)")) == nil)
        #expect(serializer.validation.failure(of: answer("x", type: "text/\(subtype)")) != nil)
    }

    @Test("pixels are made at once unless that is turned off, or the image is beyond the limit", .rows("S9"))
    func pixels() throws {
        let vector = PNGVectors.all[0]
        let received = answer(vector.image, type: "image/png")
        let image = try ImageResponseSerializer(scale: 2).serialize(received)
        #expect(image.pixels?.octets == vector.pixels && image.scale == 2 && image.width == 5)
        #expect(try ImageResponseSerializer(decodesPixels: false).serialize(received).pixels == nil)
        let limited = try ImageResponseSerializer(maximumPixels: 24).serialize(received)
        #expect(limited.pixels == nil && limited.width == 5 && limited.height == 5)
        #expect(try ImageResponseSerializer(maximumPixels: 25).serialize(received).pixels != nil)
    }

    @Test("broken pixels are a failure with the answer and the reason", .rows("S9"))
    func brokenPixels() {
        let image = PNGVectors.all[0].image.dropLast(20)
        let failure = ImageResponseSerializer().outcome(of: answer(image, type: "image/png")).serializationFailure
        guard case .image? = failure?.reason, let reason = failure?.underlying as? ImageFailure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason == .truncated(.png) && failure?.data == image && failure?.status == 200)
    }

    private struct OnePixel: ImageDecoder {
        let format: ImageFormat
        func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels {
            guard let pixels = ImagePixels(width: 1, height: 1, octets: [1, 2, 3, 4]) else {
                throw ImageFailure.outOfMemory
            }
            return pixels
        }
    }

    @Test("other decoders are asked for their formats, and before the one that is here", .rows("S9"))
    func decoders() throws {
        let gif = answer(Self.headers[0].1, type: "image/gif")
        let serializer = ImageResponseSerializer(decoders: [OnePixel(format: .gif), OnePixel(format: .png)])
        #expect(try serializer.serialize(gif).pixels?.octets == [1, 2, 3, 4])
        #expect(try serializer.serialize(answer(PNGVectors.all[0].image)).pixels?.width == 1)
        #expect(try serializer.serialize(answer(Self.headers[9].1)).pixels == nil)
    }

    @Test("pixels have as many octets as they say")
    func pixelCounts() {
        #expect(ImagePixels(width: 2, height: 2, octets: Array(repeating: 0, count: 15)) == nil)
        #expect(ImagePixels(width: 0, height: 2, octets: []) == nil)
        #expect(ImagePixels(width: .max, height: .max, octets: []) == nil)
        #expect(ImagePixels(width: 1, height: 2, octets: Array(repeating: 0, count: 8)) != nil)
    }

    @Test("a downloaded image is read from its file", .rows("A15"))
    func file() throws {
        let folder = try TemporaryFolder()
        let received = try downloaded(answer(PNGVectors.all[3].image, type: "image/png"), in: folder)
        #expect(try ImageResponseSerializer().serialize(received).pixels?.octets == PNGVectors.all[3].pixels)
    }

    @Test("an image in a downloaded file is read without the rest of the file", .rows("A15"))
    func largeFile() throws {
        let folder = try TemporaryFolder()
        let received = try downloaded(answer("BM", type: "image/bmp"), in: folder)
        let url = try #require(received.fileURL)
        let file = try FileHandle(forWritingTo: url)
        try file.seek(toOffset: 14)
        try file.write(contentsOf: Data([40, 0, 0, 0, 21, 0, 0, 0, 13, 0, 0, 0]))
        try file.truncate(atOffset: 1 << 33)
        try file.close()
        let before = try Self.residentKiB()
        let image = try ImageResponseSerializer().serialize(received)
        #expect(image.width == 21 && image.data.count == 1 << 33)
        #expect(try DataResponseSerializer().serialize(received).count == 1 << 33)
        // Other tests run at the same time; a sixteenth of the file is far from them and from what reading would
        // take.
        #expect(try Self.residentKiB() - before < 1 << 19)
        try FileManager.default.removeItem(at: url)
        #expect(image.data[14] == 40)
    }

    private static func residentKiB() throws -> Int {
        let text = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
        return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4
    }

    @Test("the serializer has a short name where a serializer is asked for")
    func shortName() {
        func made<Serializer: ResponseSerializer>(_ serializer: Serializer) throws -> Serializer.Value {
            try serializer.serialize(answer("1"))
        }
        #expect(throws: SerializationFailure.self) { try made(.image) }
    }
}
