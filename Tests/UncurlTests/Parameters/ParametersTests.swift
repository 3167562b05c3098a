import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Parameters")
struct ParametersTests {
    private struct User: Encodable {
        var userName = "n"
        var age: UInt8 = 7
        var height: Float = 0.1
        var tags: Set<String> = ["b", "a"]
        var home = URL(string: "http://h/")!
        var born = Date(timeIntervalSinceReferenceDate: 0)
        var key = Data([1])
        var price = Decimal(string: "0.10")!
        var nick: String?
        var pet = Pet(name: "p")
        var list: [Int?] = [1, nil]
        var big = UInt64.max
        var map = ["x": 1]
    }

    private struct Pet: Encodable {
        var name: String
    }

    @Test("an Encodable value becomes a tree in the order of its properties", .rows("B17"))
    func encodable() throws {
        let expected: Parameters = [
            "userName": "n", "age": 7, "height": 0.1, "tags": .set(["a", "b"]), "home": "http://h/",
            "born": .date(Date(timeIntervalSinceReferenceDate: 0)), "key": .data(Data([1])),
            "price": .decimal(Decimal(string: "0.1")!), "pet": ["name": "p"], "list": [1, nil],
            "big": .unsigned(.max), "map": ["x": 1],
        ]
        var made = try Parameters(encoding: User())
        if case .set(let tags)? = made["tags"] {
            made["tags"] = .set(tags.sorted { "\($0)" < "\($1)" })
        }
        #expect(made == expected)
        guard case .keyed(let fields) = made else {
            Issue.record("\(made)")
            return
        }
        #expect(fields.map(\.name).prefix(3) == ["userName", "age", "height"])
    }

    private class Base: Encodable {
        let id = 1
    }

    private final class Derived: Base {
        let name = "d"
        private enum Keys: CodingKey { case name, more, list }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(name, forKey: .name)
            var more = container.nestedContainer(keyedBy: Keys.self, forKey: .more)
            try more.encode(1, forKey: .name)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            try list.encodeNil()
            var inner = list.nestedContainer(keyedBy: Keys.self)
            try inner.encode(true, forKey: .name)
            var deep = list.nestedUnkeyedContainer()
            try deep.encode("x")
            try super.encode(to: container.superEncoder())
        }
    }

    @Test("nested containers and superclasses write where they belong")
    func containers() throws {
        let expected: Parameters = [
            "name": "d", "more": ["name": 1], "list": [1, nil, ["name": true], ["x"]], "super": ["id": 1],
        ]
        #expect(try Parameters(encoding: Derived()) == expected)
    }

    private struct Empty: Encodable {}
    private struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
    }
    private struct Endless: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(Endless())
        }
    }

    @Test("a struct without properties is empty; an error and endless nesting are failures")
    func edges() throws {
        #expect(try Parameters(encoding: Empty()) == .empty)
        let error = #expect(throws: ParameterFailure.self) { try Parameters(encoding: Failing()) }
        #expect(error?.description.contains("could not be encoded") == true)
        let endless = #expect(throws: ParameterFailure.self) { try Parameters(encoding: Endless()) }
        #expect(endless?.description.contains("512") == true)
    }

    @Test("parameters keep the order in which they are given; a dictionary's, which has none, is by name")
    func order() {
        var fields: KeyedParameters = ["z": 1, "a": 2]
        fields["m"] = 3
        fields["z"] = 4
        #expect(fields.map(\.name) == ["z", "a", "m"])
        fields["a"] = nil
        fields["a"] = 5
        #expect(fields.map(\.name) == ["z", "m", "a"])
        #expect(KeyedParameters(["z": 1, "a": 2]).map(\.name) == ["a", "z"])
        #expect(KeyedParameters(["z": 1, "a": 2]) == ["a": 2, "z": 1])
    }

    @Test("a dictionary's names are sorted at every depth; a literal and a type keep their order")
    func dictionaries() throws {
        struct Named: Encodable {
            var z = 1
            var a = ["d": 1, "c": 2, "b": 3, "a": 4]
        }
        func names(_ parameters: Parameters?) -> [String] {
            if case .keyed(let fields)? = parameters { fields.map(\.name) } else { [] }
        }
        let many = Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", $0) })
        #expect(names(try Parameters(encoding: many)) == many.keys.sorted())
        let numbered = Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, $0) })
        #expect(names(try Parameters(encoding: numbered)) == numbered.keys.map(String.init).sorted())
        let named = try Parameters(encoding: Named())
        #expect(names(named) == ["z", "a"] && names(named["a"]) == ["a", "b", "c", "d"])
        #expect(names(["z": 1, "a": 2]) == ["z", "a"])
    }

    @Test("a class and its superclass share the nested containers of one key, as with JSONEncoder")
    func nestedContainers() throws {
        let own = try Parameters(encoding: Continued())
        let expected: Parameters = ["map": ["base": 1, "derived": 2], "list": [1, 2], "super": ["last": 2]]
        #expect(own == expected, "\(own)")
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Continued()))
        #expect(try Parameters(foundationObject: json) == expected, "\(json)")
    }

    @Test("a key is read and set through the tree")
    func subscripts() {
        var parameters: Parameters = ["a": 1]
        parameters["b"] = ["c": 2]
        parameters["b"]?["d"] = 3
        parameters["a"] = nil
        #expect(parameters == ["b": ["c": 2, "d": 3]])
        var number: Parameters = 1
        number["k"] = nil
        #expect(number == 1)
        number["k"] = 2
        #expect(number == ["k": 2])
    }

    @Test("parts of a form: names as in a query, nothing escaped, bytes as they are, null empty", .rows("Q15"))
    func formParts() throws {
        let parameters: Parameters = [
            "name": "ä&=", "file": .data(Data([0, 255])), "list": [1, 2], "map": ["k": true], "none": nil,
            "x": .set([1]),
        ]
        let parts = try parameters.formParts()
        #expect(parts.map(\.name) == ["file", "list[]", "list[]", "map[k]", "name", "none", "x"])
        let values: [Data] = [
            Data([0, 255]), Data("1".utf8), Data("2".utf8), Data("1".utf8), Data("ä&=".utf8), Data(), Data("1".utf8),
        ]
        #expect(parts.map(\.value) == values)
    }

    @Test("text is in the string encoding, and a character that it lacks is an error", .rows("Q15"))
    func formPartsEncoding() throws {
        let parts = try (["k": "ä"] as Parameters).formParts(stringEncoding: .isoLatin1)
        #expect(parts.map(\.value) == [Data([0xE4])])
        #expect(throws: ParameterFailure.self) { try (["k": "日"] as Parameters).formParts(stringEncoding: .isoLatin1) }
        #expect(throws: ParameterFailure.self) { try ([1] as Parameters).formParts() }
    }

    @Test("Foundation's objects and dictionaries of anything become parameters, truth and numbers each their own")
    func foundationObjects() throws {
        let object: [String: Any] = [
            "s": "x", "t": true, "n": NSNumber(value: true), "one": 1, "i": NSNumber(value: 1), "u": UInt64.max,
            "d": 1.5, "fl": Float(0.1), "nf": NSNumber(value: Float(19.99)),
            "l": [1, "x", NSNull()] as [Any], "m": ["k": [String: Any]()], "b": Data([1]), "set": Set(["a"]),
            "w": Date(timeIntervalSince1970: 0), "dec": Decimal(string: "0.1")!, "url": URL(string: "http://h/")!,
            "e": NSNumber(value: 0), "f": false, "small": Int8(3),
        ]
        let expected: Parameters = [
            "s": "x", "t": true, "n": true, "one": 1, "i": 1, "u": .unsigned(.max), "d": 1.5, "l": [1, "x", nil],
            "fl": 0.1, "nf": 19.99,
            "m": ["k": [:]], "b": .data(Data([1])), "set": .set(["a"]), "w": .date(Date(timeIntervalSince1970: 0)),
            "dec": .decimal(Decimal(string: "0.1")!), "url": "http://h/", "e": 0, "f": false, "small": 3,
        ]
        #expect(try Parameters(foundationObject: object) == expected)
        let text = Data(#"{"a":[1,true,null,2.5,"x"],"b":0}"#.utf8)
        let read = try Parameters(foundationObject: JSONSerialization.jsonObject(with: text))
        #expect(read == ["a": [1, true, nil, 2.5, "x"], "b": 0])
        let optional: [String: Any] = [
            "no": Int?.none as Any, "yes": Bool?.some(true) as Any, "n": Int??.some(nil) as Any,
        ]
        #expect(try Parameters(foundationObject: optional) == ["no": nil, "yes": true, "n": nil])
        let failure = #expect(throws: ParameterFailure.self) {
            try Parameters(foundationObject: ["a": ["b": [NSObject()]]])
        }
        #expect(failure?.description.contains("a.b[0]") == true)
    }
}

private class First: Encodable {
    enum Key: CodingKey { case map, list, base, derived, first, last }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var map = container.nestedContainer(keyedBy: Key.self, forKey: .map)
        try map.encode(1, forKey: .base)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(1)
        var own = container.superEncoder().container(keyedBy: Key.self)
        try own.encode(1, forKey: .first)
    }
}

private final class Continued: First {
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        var map = container.nestedContainer(keyedBy: Key.self, forKey: .map)
        try map.encode(2, forKey: .derived)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(2)
        var own = container.superEncoder().container(keyedBy: Key.self)
        try own.encode(2, forKey: .last)
    }
}
