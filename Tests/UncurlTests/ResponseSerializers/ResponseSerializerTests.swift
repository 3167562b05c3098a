import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Response serializers")
struct ResponseSerializerTests {
    private struct User: Codable, Equatable {
        var name: String
    }

    @Test(
        "JSON's types; a wrong one is a failure, a wrong status too, and the body is read in any case",
        .rows("S5"),
        arguments: [
            ("application/json", true), ("text/json; charset=utf-8", true), ("text/javascript", true),
            ("application/problem+json", true), ("text/html", false), (nil, false),
        ] as [(String?, Bool)]
    )
    func jsonTypes(type: String?, isAcceptable: Bool) {
        let outcome = JSONResponseSerializer().outcome(of: answer("[1]", type: type))
        #expect((outcome.error == nil) == isAcceptable)
        #expect(outcome.value == [1])
        #expect(JSONResponseSerializer().outcome(of: answer("[1]", status: 500, type: type)).value == [1])
    }

    @Test("empty content and a single space are null without a failure", .rows("S5"), arguments: ["", " "])
    func jsonEmpty(body: String) throws {
        #expect(try JSONResponseSerializer().serialize(answer(body)) == .null)
        let strict = JSONResponseSerializer(emptyContent: .whereThereIsNone)
        #expect(throws: SerializationFailure.self) { try strict.serialize(answer(body)) }
        #expect(throws: SerializationFailure.self) { try JSONResponseSerializer().serialize(answer("  ")) }
    }

    @Test(
        "with the strict rule, only HEAD, 204 and 205 may have no content",
        .rows("A15", "B18"),
        arguments: [
            ("GET", 200, false), ("HEAD", 200, true), ("GET", 204, true), ("POST", 205, true), ("GET", 206, false),
            ("head", 200, true),
        ]
    )
    func emptyRule(method: String, status: Int, isAllowed: Bool) {
        let received = answer("", status: status, method: method)
        let json = JSONResponseSerializer(emptyContent: .whereThereIsNone)
        #expect((try? json.serialize(received)) == (isAllowed ? .null : nil))
        #expect(((try? DecodableResponseSerializer(EmptyResponse.self).serialize(received)) != nil) == isAllowed)
        #expect((try? DecodableResponseSerializer(User?.self).serialize(received) == nil) == (isAllowed ? true : nil))
        let failure = DecodableResponseSerializer(User.self).outcome(of: received).serializationFailure
        guard case .empty? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("EmptyResponse decodes from any object, so a body where none was expected does no harm", .rows("B18"))
    func emptyResponseWithBody() throws {
        _ = try DecodableResponseSerializer(EmptyResponse.self).serialize(answer(#"{"x":1}"#))
    }

    @Test(
        "the charset parameter counts where the octets are not UTF-8",
        .rows("S5"),
        arguments: [
            ([0x22, 0xE9, 0x22], "iso-8859-1", "é"), ([0x22, 0xC3, 0xA9, 0x22], "iso-8859-1", "é"),
            ([0x22, 0x83, 0x65, 0x22], "Shift_JIS", "テ"), ([0x22, 0xC3, 0xA9, 0x22], "utf-8", "é"),
            ([0x22, 0xD6, 0xD0, 0x22], "GBK", "中"), ([0x22, 0xE9, 0x22], "nonsense", nil),
            ([0x22, 0xE9, 0x22], "utf-8", nil),
        ] as [([UInt8], String, String?)]
    )
    func jsonCharset(octets: [UInt8], charset: String, expected: String?) {
        let received = answer(Data(octets), type: "application/json; charset=\(charset)")
        #expect((try? JSONResponseSerializer().serialize(received))?.string == expected)
        #expect((try? DecodableResponseSerializer(String.self).serialize(received)) == expected)
    }

    @Test("nulls are removed where that is asked for", .rows("S6"))
    func removesNulls() throws {
        let received = answer(#"{"a":null,"b":[null,1]}"#)
        #expect(try JSONResponseSerializer(removesNulls: true).serialize(received) == ["b": [1]])
        #expect(try JSONResponseSerializer().serialize(received) == ["a": nil, "b": [nil, 1]])
    }

    @Test(
        "a script guard is removed, with or without a line end",
        .rows("B18"),
        arguments: [")]}',\n[1]", ")]}',[1]", "[1]"]
    )
    func scriptGuard(body: String) throws {
        let json = JSONResponseSerializer(preprocessor: .withoutScriptGuard)
        #expect(try json.serialize(answer(body)) == [1])
        let decodable = DecodableResponseSerializer([Int].self, preprocessor: .withoutScriptGuard)
        #expect(try decodable.serialize(answer(body)) == [1])
        let string = StringResponseSerializer(preprocessor: .withoutScriptGuard)
        #expect(try string.serialize(answer(body)) == "[1]")
        let data = DataResponseSerializer(preprocessor: .passthrough)
        #expect(try data.serialize(answer(body)) == Data(body.utf8))
    }

    @Test("an error of a preprocessor is the failure's cause", .rows("B18"))
    func preprocessorThrows() {
        let serializer = DataResponseSerializer(
            preprocessor: ContentPreprocessor { _ in throw CocoaError(.coderInvalidValue) }
        )
        let failure = serializer.outcome(of: answer("x")).serializationFailure
        #expect(failure?.underlying is CocoaError)
        #expect(failure?.data == Data("x".utf8))
    }

    @Test(
        "text by the given encoding, else the charset, else a mark, else UTF-8, else ISO 8859-1",
        .rows("A15"),
        arguments: [
            (nil, nil, [0xC3, 0xA9], "é"), (nil, nil, [0xE9], "é"), (nil, "iso-8859-1", [0xC3, 0xA9], "Ã©"),
            (nil, "UTF-8", [0xE9], nil), (.isoLatin1, "utf-8", [0xE9], "é"), (.utf8, "iso-8859-1", [0xC3, 0xA9], "é"),
            (nil, "windows-1252", [0x80], "€"), (nil, "iso-8859-15", [0xA4], "€"), (nil, "Big5", [0xA4, 0xA4], "中"),
            (nil, "EUC-KR", [0xA4, 0xA4], "ㄴ"), (nil, "koi8-r", [0xC1], "а"), (nil, "windows-1251", [0xE0], "а"),
            (nil, "us-ascii", [0x41], "A"), (nil, "us-ascii", [0x80], "€"), (nil, "windows-1252", [0x81], "\u{81}"),
            (nil, "windows-1253", [0xD2], nil), (nil, "big5", [0xA4], nil), (nil, "gbk", [0x80], "€"),
            (nil, "macintosh", [0xC6, 0xF0], "\u{2206}\u{F8FF}"), (nil, "x-mac-cyrillic", [0xFF], "€"),
            (nil, "koi8-u", [0xAE], "ў"),
            (nil, "utf-16", [0x00, 0x41], "A"), (nil, "utf-16", [0xFF, 0xFE, 0x41, 0x00], "A"),
            (nil, "utf-16le", [0x41, 0x00], "A"), (nil, "utf-16", [0x41], nil), (nil, "utf-16be", [0xD8, 0x00], nil),
            (nil, "utf-32", [0, 0, 0, 0x41], "A"), (nil, "utf-32", [0, 0x11, 0, 0], nil),
            (nil, nil, [0xEF, 0xBB, 0xBF, 0x41], "A"), (nil, nil, [0xFF, 0xFE, 0x41, 0x00], "A"),
            (nil, "who-knows", [0x41], nil), (nil, nil, [], ""),
            (nil, "iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
        ] as [(String.Encoding?, String?, [UInt8], String?)]
    )
    func strings(encoding: String.Encoding?, charset: String?, octets: [UInt8], expected: String?) {
        let received = answer(Data(octets), type: charset.map { "text/plain; charset=\($0)" })
        let outcome = StringResponseSerializer(encoding: encoding).outcome(of: received)
        #expect(outcome.value == expected)
        #expect((outcome.error == nil) == (expected != nil))
    }

    @Test("property lists in any format; no content is an empty one; what is none is a failure", .rows("S8"))
    func propertyLists() throws {
        let list: [String: Any] = ["a": [1, true, 1.5, "x"]]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            let received = answer(data, type: "application/x-plist")
            let outcome = PropertyListResponseSerializer().outcome(of: received)
            #expect(outcome.error == nil)
            #expect(outcome.value?["a"] == .array([.integer(1), .bool(true), .real(1.5), .string("x")]))
            #expect(outcome.value?["a"]?[1]?.bool == true && outcome.value?["a"]?[0]?.int64 == 1)
            let decoded = DecodableResponseSerializer([String: Int].self, decoder: PropertyListDecoder())
            #expect(decoded.outcome(of: received).serializationFailure != nil)
        }
        #expect(try PropertyListResponseSerializer().serialize(answer("")) == .dictionary([:]))
        #expect(PropertyListResponseSerializer().outcome(of: answer("[1]", type: "application/json")).error != nil)
        let deep = String(repeating: "<array>", count: 100_000)
        #expect(throws: SerializationFailure.self) {
            try PropertyListResponseSerializer().serialize(answer("<plist>\(deep)</plist>"))
        }
    }

    @Test(
        "a list's text is UTF-8, or what its mark says; a number of other octets is a failure and no trap",
        .rows("S8")
    )
    func propertyListText() throws {
        let list = "<plist version=\"1.0\"><dict><key>é</key><integer>7</integer></dict></plist>"
        let decodable = DecodableResponseSerializer([String: Int].self, decoder: PropertyListDecoder())
        for data in [Data(list.utf8), Data([0xEF, 0xBB, 0xBF]) + Data(list.utf8), list.data(using: .utf16) ?? Data()] {
            #expect(try PropertyListResponseSerializer().serialize(answer(data))["é"]?.int64 == 7)
            #expect(try decodable.serialize(answer(data)) == ["é": 7])
        }
        var broken = Data(list.utf8)
        let place = try #require(broken.firstIndex(of: UInt8(ascii: "7")))
        broken.replaceSubrange(place...place, with: [0xFB, 0x38])
        #expect(throws: SerializationFailure.self) { try decodable.serialize(answer(broken)) }
        #expect(throws: SerializationFailure.self) { try PropertyListResponseSerializer().serialize(answer(broken)) }
    }

    @Test("binary lists that Foundation would trap on, or follow for ever, are failures", .rows("S8"))
    func hostileBinaryLists() {
        func list(_ objects: [[UInt8]], top: UInt8 = 0) -> Data {
            var data = Data("bplist00".utf8)
            var table: [UInt8] = []
            for object in objects {
                table.append(UInt8(data.count))
                data += object
            }
            let start = UInt8(data.count)
            let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1]
            let numbers: [UInt8] = [UInt8(objects.count), top, start].flatMap { [0, 0, 0, 0, 0, 0, 0, $0] }
            return data + table + trailer + numbers
        }
        func read(_ data: Data) -> PropertyListValue? { try? PropertyListResponseSerializer().serialize(answer(data)) }
        #expect(read(list([[0xA2, 1, 2], [0x10, 7], [0x51, 0x78]])) == .array([.integer(7), .string("x")]))
        #expect(read(list([[0xD1, 1, 2], [0x51, 0x78], [0x09]])) == .dictionary(["x": .bool(true)]))
        // Itself, a set, a UID, a key that is no string, references and offsets to nowhere.
        let others: [Data] = [
            list([[0xA1, 0]]), list([[0xC1, 1], [0x09]]), list([[0x80, 1]]), list([[0xD1, 1, 1], [0x09]]),
            list([[0xA1, 9]]), list([[0x5F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]]),
            list([[0x09]], top: 1),
            list([[0xAF, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]]), list([[0x1F]]), list([[0x2F]]),
            list([[0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]]),
        ]
        for data in others {
            #expect(read(data) == nil)
            let decodable = DecodableResponseSerializer([String].self, decoder: PropertyListDecoder())
            #expect(decodable.outcome(of: answer(data, type: "application/x-plist")).serializationFailure != nil)
        }
        // Each array twice the one before it: two to the thirtieth in a hundred octets.
        var doubling = (1...30).map { (index: UInt8) -> [UInt8] in [0xA2, index, index] }
        doubling.append([0x09])
        #expect(read(list(doubling)) == nil)
    }

    @Test("names with too many combining marks in a row are a failure, in a list of any format", .rows("S8"))
    func longNames() throws {
        let decoder = DecodableResponseSerializer([String: Int].self, decoder: PropertyListDecoder())
        for (count, isRead) in [(128, true), (129, false)] {
            let name = "e" + String(repeating: "\u{345}", count: count)
            let binary = try PropertyListSerialization.data(fromPropertyList: [name: 1], format: .binary, options: 0)
            let xml = try PropertyListSerialization.data(fromPropertyList: [name: 1], format: .xml, options: 0)
            let escapes = String(repeating: "\\U0345", count: count)
            for data in [binary, xml, Data("{ \"e\(escapes)\" = 1; }".utf8)] {
                let received = answer(data, type: "application/x-plist")
                #expect(((try? PropertyListResponseSerializer().serialize(received)) != nil) == isRead)
                if data.starts(with: "{".utf8) { continue }
                #expect((decoder.outcome(of: received).value?.count == 1) == isRead)
            }
        }
    }

    @Test("arrays that overlap are a failure as soon as they have more references than octets", .rows("S8"))
    func overlappingArrays() {
        // Each of 500 arrays of 1,700 references begins with one to the next.
        func octets(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
        }
        func list(_ levels: Int, _ length: Int) -> Data {
            let arrays = (0..<levels).flatMap { [0xAF, 0x12] as [UInt8] + octets(length, 4) + octets($0 + 1, 2) }
            let objects = Array("bplist00".utf8) + arrays + [0x09]
            let data = objects + [UInt8](repeating: 0, count: 2 * length)
            let table = (0...levels).flatMap { octets(8 + 8 * $0, 2) }
            let sizes: [UInt8] = [0, 0, 0, 0, 0, 0, 2, 2]
            let trailer = sizes + octets(levels + 1, 8) + octets(0, 8) + octets(data.count, 8)
            return Data(data + table + trailer)
        }
        func read(_ data: Data) -> PropertyListValue? { try? PropertyListResponseSerializer().serialize(answer(data)) }
        #expect(read(list(500, 1_700)) == nil)
        #expect(read(list(3, 1)) == .array([.array([.array([.bool(true)])])]))
    }

    @Test("many references to one long text are a failure, and many to one short text are not", .rows("S8"))
    func sharedText() {
        /// An array whose elements all refer to one text.
        func list(_ count: Int, _ length: Int) -> Data {
            func size(_ number: Int) -> [UInt8] {
                [0x12] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            }
            let array = [0xAF] + size(count) + [UInt8](repeating: 1, count: count)
            let text = [0x5F] + size(length) + [UInt8](repeating: 0x61, count: length)
            let places = [8, 8 + array.count, 8 + array.count + text.count]
            let table = places.dropLast().flatMap { size($0).dropFirst() }
            let trailer: [UInt8] =
                [0, 0, 0, 0, 0, 0, 4, 1] + [2, 0, places[2]].flatMap { [0, 0, 0, 0] + size($0).dropFirst() }
            return Data("bplist00".utf8 + array + text + table + trailer)
        }
        let decoder = DecodableResponseSerializer([String].self, decoder: PropertyListDecoder())
        for (count, length, isRead) in [(20_000, 20_000, false), (20_000, 400, false), (20_000, 100, true)] {
            let received = answer(list(count, length), type: "application/x-plist")
            #expect((decoder.outcome(of: received).value?.count == count) == isRead)
            #expect(((try? PropertyListResponseSerializer().serialize(received)) != nil) == isRead)
        }
    }

    @Test("a decoder decodes its own content types; content that does not fit is a failure with the cause")
    func decodable() throws {
        let json = DecodableResponseSerializer(User.self)
        #expect(json.outcome(of: answer(#"{"name":"n"}"#, type: "application/json")).value == User(name: "n"))
        #expect(json.outcome(of: answer(#"{"name":"n"}"#, type: "text/html")).validationFailure != nil)
        let failure = json.outcome(of: answer(#"{"nam":"n"}"#, type: "application/json")).serializationFailure
        #expect(failure?.underlying is DecodingError)
        let list = try PropertyListEncoder().encode(User(name: "n"))
        let plist = DecodableResponseSerializer(User.self, decoder: PropertyListDecoder())
        #expect(plist.outcome(of: answer(list, type: "application/x-plist")).value == User(name: "n"))
        #expect(plist.outcome(of: answer(list, type: "application/json")).validationFailure != nil)
        #expect(throws: SerializationFailure.self) {
            try json.serialize(answer(String(repeating: "[", count: 100_000)))
        }
    }

    @Test("a decoder that is changed later does not change the serializer that has it", .rows("D5", "D7"))
    func decoderSnapshot() throws {
        let decoder = JSONDecoder()
        let serializer = DecodableResponseSerializer(Date.self, decoder: decoder)
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try serializer.serialize(answer("0")) == Date(timeIntervalSinceReferenceDate: 0))
        decoder.userInfo = [:]
        #expect(
            try DecodableResponseSerializer(Date.self, decoder: decoder).serialize(answer("0")).timeIntervalSince1970
                == 0
        )
    }

    @Test("a copy has all properties, and neither side's changes reach the other", .rows("S11"))
    func copies() throws {
        var json = JSONResponseSerializer(removesNulls: true, emptyContent: .whereThereIsNone)
        json.validation.statusCodes = [404]
        json.preprocessor = .withoutScriptGuard
        let copy = json
        json.removesNulls = false
        json.validation.statusCodes = nil
        json.preprocessor = .passthrough
        #expect(try copy.serialize(answer(")]}',[null]")) == [])
        #expect(copy.validation.failure(of: answer("1", status: 200, type: "text/json")) != nil)
        #expect(throws: SerializationFailure.self) { try copy.serialize(answer("")) }
    }

    private enum Content: Equatable {
        case json(JSONValue)
        case text(String)
        case bytes(Data)
    }

    @Test(
        "the first candidate that accepts the type and makes a value is used; otherwise the bytes",
        .rows("S10", "B5"),
        arguments: [
            ("[1]", "application/json", .json([1])), ("x", "text/plain", .text("x")),
            ("[", "application/json", .bytes(Data("[".utf8))), ("x", "a/b", .bytes(Data("x".utf8))),
            ("x", nil, .bytes(Data("x".utf8))),
        ] as [(String, String?, Content)]
    )
    private func compound(body: String, type: String?, expected: Content) {
        let candidates: [any ResponseSerializer<Content>] = [
            JSONResponseSerializer().map(Content.json),
            StringResponseSerializer(validation: ResponseValidation(contentTypes: ["text/*"])).map(Content.text),
        ]
        let serializer = CompoundResponseSerializer(candidates, otherwise: Content.bytes)
        let outcome = serializer.outcome(of: answer(body, type: type))
        #expect(outcome.value == expected && outcome.error == nil)
        #expect(serializer.outcome(of: answer(body, status: 404, type: type)).validationFailure?.status == 404)
        let strict = CompoundResponseSerializer(candidates).outcome(of: answer(body, type: type))
        #expect((strict.error == nil) == (expected != .bytes(Data(body.utf8))))
    }

    @Test("downloads are read as bodies are, text, JSON, property list and value, from their files", .rows("A15"))
    func files() throws {
        let folder = try TemporaryFolder()
        let received = try downloaded(answer("[1]", type: "application/json"), in: folder)
        #expect(DataResponseSerializer().outcome(of: received).value == Data("[1]".utf8))
        #expect(JSONResponseSerializer().outcome(of: received).value == [1])
        #expect(StringResponseSerializer().outcome(of: received).value == "[1]")
        #expect(DecodableResponseSerializer([Int].self).outcome(of: received).value == [1])
        #expect(FileResponseSerializer().outcome(of: received).value == received.fileURL)
        let empty = try downloaded(answer(""), in: folder)
        #expect(JSONResponseSerializer().outcome(of: empty).value == .null)
    }

    @Test("a missing file, and an answer without a file, are failures that say so", .rows("B18"))
    func missingFile() throws {
        let gone = ReceivedResponse(response: nil, data: Data(), fileURL: URL(filePath: "/nonexistent/x"))
        let failure = DataResponseSerializer().outcome(of: gone).serializationFailure
        #expect(failure?.fileURL == gone.fileURL && failure?.underlying != nil)
        #expect(failure?.description.contains("cannot be read") == true)
        #expect(FileResponseSerializer().outcome(of: answer("x")).serializationFailure != nil)
    }

    @Test("each serializer has a short name", .rows("Q21"))
    func shortNames() throws {
        func made<Serializer: ResponseSerializer>(_ serializer: Serializer, _ body: String) throws -> Serializer.Value {
            try serializer.serialize(answer(body))
        }
        #expect(try made(.data, "1") == Data("1".utf8))
        #expect(try made(.string, "1") == "1")
        #expect(try made(.string(.utf8), "1") == "1")
        #expect(try made(.json, "1") == JSONValue.number(.integer(1)))
        #expect(try made(.decodable(Int.self), "1") == 1)
        #expect(throws: SerializationFailure.self) { try made(.propertyList, "]") }
        #expect(throws: SerializationFailure.self) { try made(.file, "1") }
    }

    @Test(
        "content that is no JSON is told as that, with what stands at which octet, and not as another type",
        arguments: [
            ("{\"name\": x}", "unexpected x at octet 9"), ("<html>", "unexpected < at octet 0"),
            ("{\"name\": \"a\"", "the text ends within a value"),
            ("{\"name\": \"a\"}}", "more text after the value at octet 13"),
        ]
    )
    func malformed(body: String, words: String) throws {
        let failure = try #require(throws: SerializationFailure.self) {
            try DecodableResponseSerializer<User>().serialize(answer(body))
        }
        #expect(failure.description.contains(words), "\(failure)")
        #expect(!failure.description.contains("decoded type"), "\(failure)")
    }

    @Test("JSON that does not fit the type is told as that, and so is what only JSON5 allows where it is allowed")
    func unfit() throws {
        let failure = try #require(throws: SerializationFailure.self) {
            try DecodableResponseSerializer<User>().serialize(answer("{\"name\": 1}"))
        }
        #expect(failure.description.contains("does not fit the decoded type"), "\(failure)")
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let lenient = DecodableResponseSerializer<User>(decoder: decoder)
        #expect(try lenient.serialize(answer("{name: 'a'}")).name == "a")
        let broken = try #require(throws: SerializationFailure.self) { try lenient.serialize(answer("{name: ")) }
        #expect(!broken.description.contains("unexpected n"), "\(broken)")
    }
}
