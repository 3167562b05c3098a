import FacadeTestSupport
import Foundation
import Testing
import Uncurl

/// Whatever a server sends becomes a value or a typed error. Octets are changed by chance, from a seed that is told;
/// more rounds with `UNCURL_MUTATIONS`.
@Suite("Hostile content")
struct HostileContentTests {
    private static var object: [String: Any] {
        [
            "a": [1, -2.5, true, "x", Data([1, 2])] as [Any], "b": ["c": Date(timeIntervalSince1970: 0)],
            "d": UInt64.max,
        ]
    }

    @Test("JSON, as a value and decoded")
    func json() {
        let text = Data(#"{"a":[1,-2.5e3,true,null,"x\u00e9\uD83D\uDE00"],"b":{"c":18446744073709551616}}"#.utf8)
        Storm.run(1, [text]) { _ = try JSONResponseSerializer().serialize(answer($0)) }
        Storm.run(2, [text]) { _ = try DecodableResponseSerializer([String: JSONValue].self).serialize(answer($0)) }
    }

    @Test("property lists in their formats, as a value and decoded")
    func propertyLists() throws {
        let lists =
            try [PropertyListSerialization.PropertyListFormat.xml, .binary].map {
                try PropertyListSerialization.data(fromPropertyList: Self.object, format: $0, options: 0)
            } + [Data("{ a = (1, \"x\", <0102>); \"b c\" = { d = e; }; }".utf8)]
        Storm.run(3, lists) { _ = try PropertyListResponseSerializer().serialize(answer($0)) }
        let decodable = DecodableResponseSerializer([String: [String]].self, decoder: PropertyListDecoder())
        Storm.run(4, lists) { _ = try decodable.serialize(answer($0)) }
    }

    @Test(
        "property lists that are nested as deep as they like, on a thread with a usual stack",
        .timeLimit(.minutes(5))
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

    @Test(
        "text in every kind of encoding",
        arguments: [
            "utf-8", "utf-16", "utf-32", "shift_jis", "iso-2022-jp", "big5", "gb18030", "euc-kr", "windows-1252",
        ]
    )
    func text(charset: String) {
        let text = Data("aé日本語🎉\u{1B}$B$\"\u{1B}(Bz".utf8)
        Storm.run(7, [text]) {
            _ = try StringResponseSerializer().serialize(answer($0, type: "text/plain; charset=\(charset)"))
        }
    }
}
