import Foundation
import FoundationXML
import Testing
import UncurlXML

/// Whatever a server sends becomes a value or a typed error. Octets are changed by chance, from a seed that is told;
/// more rounds with `UNCURL_MUTATIONS`.
@Suite("Hostile content")
struct HostileContentTests {
    private static let rounds = ProcessInfo.processInfo.environment["UNCURL_MUTATIONS"].flatMap { Int($0) } ?? 200

    /// SplitMix64: the same numbers in each run.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    /// Octets overwritten, cut out, doubled, or cut off.
    private static func changed(_ data: Data, _ chance: inout Chance) -> Data {
        var octets = Array(data)
        for _ in 0..<Int.random(in: 1...4, using: &chance) where !octets.isEmpty {
            let place = Int.random(in: 0..<octets.count, using: &chance)
            let length = min(octets.count - place, Int.random(in: 1...8, using: &chance))
            switch Int.random(in: 0..<5, using: &chance) {
            case 0: octets[place] = .random(in: 0...255, using: &chance)
            case 1: octets[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 2: octets.removeSubrange(place..<place + length)
            case 3: octets.insert(contentsOf: octets[place..<place + length], at: place)
            default: octets.removeLast(Int.random(in: 0...min(4, octets.count), using: &chance))
            }
        }
        return Data(octets)
    }

    private func storm(_ seed: UInt64, _ sources: [Data], _ read: (Data) throws -> Void) {
        var chance = Chance(state: seed)
        for round in 0..<Self.rounds {
            let data = Self.changed(sources[round % sources.count], &chance)
            do {
                try read(data)
            } catch {
                let isTyped = error is SerializationFailure || error is ImageFailure || error is XMLFailure
                #expect(isTyped, "seed \(seed), round \(round): \(error)")
            }
        }
    }

    private static var object: [String: Any] {
        [
            "a": [1, -2.5, true, "x", Data([1, 2])] as [Any], "b": ["c": Date(timeIntervalSince1970: 0)],
            "d": UInt64.max,
        ]
    }

    @Test("JSON, as a value and decoded")
    func json() {
        let text = Data(#"{"a":[1,-2.5e3,true,null,"x\u00e9\uD83D\uDE00"],"b":{"c":18446744073709551616}}"#.utf8)
        storm(1, [text]) { _ = try JSONResponseSerializer().serialize(answer($0)) }
        storm(2, [text]) { _ = try DecodableResponseSerializer([String: JSONValue].self).serialize(answer($0)) }
    }

    @Test("property lists in their formats, as a value and decoded")
    func propertyLists() throws {
        let lists =
            try [PropertyListSerialization.PropertyListFormat.xml, .binary].map {
                try PropertyListSerialization.data(fromPropertyList: Self.object, format: $0, options: 0)
            } + [Data("{ a = (1, \"x\", <0102>); \"b c\" = { d = e; }; }".utf8)]
        storm(3, lists) { _ = try PropertyListResponseSerializer().serialize(answer($0)) }
        let decodable = DecodableResponseSerializer([String: [String]].self, decoder: PropertyListDecoder())
        storm(4, lists) { _ = try decodable.serialize(answer($0)) }
    }

    @Test(
        "property lists that are nested as deep as they like, on a thread with a usual stack",
        .timeLimit(.minutes(1))
    )
    func deepPropertyLists() async {
        let kinds = [
            ("<array>", "", "</array>"), ("<dict><key>k</key>", "<true/>", "</dict>"), ("(", "", ")"),
            ("{a=", "b", ";}"),
        ]
        for (opening, middle, closing) in kinds {
            for depth in [100, 514, opening == "<array>" ? 200_000 : 2_000] {
                let inner = String(repeating: opening, count: depth) + middle + String(repeating: closing, count: depth)
                let text = opening.hasPrefix("<") ? "<plist version=\"1.0\">\(inner)</plist>" : inner
                let (decoded, read) = await withCheckedContinuation { continuation in
                    let thread = Thread {
                        let decodable = DecodableResponseSerializer([String].self, decoder: PropertyListDecoder())
                        let content = answer(Data(text.utf8))
                        continuation.resume(
                            returning: (
                                Result { try decodable.serialize(content) },
                                Result { try PropertyListResponseSerializer().serialize(content) }
                            )
                        )
                    }
                    thread.stackSize = 8 << 20
                    thread.start()
                }
                #expect(throws: SerializationFailure.self) { try decoded.get() }
                #expect((try? read.get()) != nil || depth > 512)
                if depth > 514 { #expect(throws: SerializationFailure.self) { try read.get() } }
            }
        }
    }
    @Test("XML, as events and as a tree")
    func xml() {
        let text = """
            <?xml version="1.0" encoding="utf-8"?><!DOCTYPE r SYSTEM "r.dtd"><r xmlns:n="urn:x" a="1">\
            <n:b n:k="2">x &amp; y&#33;é</n:b><!--c--><?p q?><![CDATA[<d>]]><e/></r>
            """
        let latin = text.replacing("utf-8", with: "iso-8859-1").data(using: .isoLatin1) ?? Data()
        let sources = [Data(text.utf8), text.data(using: .utf16) ?? Data(), latin]
        storm(5, sources) { _ = try XMLParserResponseSerializer().serialize(answer($0)).events() }
        storm(6, sources) {
            let tree = try XMLDocumentResponseSerializer().serialize(answer($0))
            _ = try tree.makeDocument().rootElement()?.stringValue
        }
    }

    @Test(
        "text in every kind of encoding",
        arguments: [
            "utf-8", "utf-16", "utf-32", "shift_jis", "iso-2022-jp", "big5", "gb18030", "euc-kr", "windows-1252",
        ]
    )
    func text(charset: String) {
        let text = Data("aé日本語🎉\u{1B}$B$\"\u{1B}(Bz".utf8)
        storm(7, [text]) {
            _ = try StringResponseSerializer().serialize(answer($0, type: "text/plain; charset=\(charset)"))
        }
    }

    @Test("images: headers and pixels")
    func images() {
        storm(8, PNGVectors.all.map(\.image)) { _ = try ImageResponseSerializer().serialize(answer($0)) }
    }

    @Test("PNGs whose checksums are right, so that what lies behind them is reached")
    func pixels() {
        var chance = Chance(state: 9)
        for round in 0..<Self.rounds {
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
            let compressed = Self.changed(Data(PNGMaker.zlib(raw)), &chance)
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
