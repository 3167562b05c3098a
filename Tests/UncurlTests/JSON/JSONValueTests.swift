import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("JSON values")
struct JSONValueTests {
    private let value: JSONValue = [
        "null": nil, "bool": true, "int": -7, "float": 1.5, "string": "x", "list": [1, nil, ["k": nil]],
        "map": ["a": 1],
    ]

    @Test("accessors return the value, and nil for another kind")
    func accessors() {
        #expect(value["bool"]?.bool == true && value["int"]?.int == -7 && value["float"]?.double == 1.5)
        #expect(value["string"]?.string == "x" && value["list"]?[0]?.int64 == 1 && value["list"]?.array?.count == 3)
        #expect(value["map"]?["a"]?.uint64 == 1 && value["null"]?.isNull == true && value["map"]?.object?.count == 1)
        #expect(value["string"]?.int == nil && value["int"]?.bool == nil && value["none"] == nil)
        #expect(value["list"]?[3] == nil && value["list"]?[-1] == nil && value[0] == nil && value["int"]?["x"] == nil)
    }

    @Test("a member is set and removed")
    func setting() {
        var value: JSONValue = ["a": 1]
        value["b"] = "x"
        value["a"] = nil
        #expect(value == ["b": "x"])
        var number: JSONValue = 1
        number["a"] = 1
        #expect(number == 1)
    }

    @Test("integers are exact and never converted to a double", .rows("S5"))
    func exactIntegers() throws {
        let text = "[9007199254740993,18446744073709551615,-9223372036854775808,123456789012345678901234567890]"
        let list = try JSONValue(reading: Data(text.utf8))
        #expect(list[0]?.int == 9_007_199_254_740_993)
        #expect(list[1]?.uint64 == .max && list[1]?.int64 == nil)
        #expect(list[2]?.int64 == .min && list[2]?.uint64 == nil)
        #expect(list[3]?.decimal == Decimal(string: "123456789012345678901234567890"))
        #expect(list[3]?.int == nil && list[3]?.double == 123456789012345678901234567890.0)
        #expect(list.description == text)
        #expect(try JSONValue(reading: Data("[2.0,2.5]".utf8))[0]?.int == 2)
        #expect(try JSONValue(reading: Data("[2.0,2.5]".utf8))[1]?.int == nil)
        #expect(try JSONValue(reading: Data("0.1".utf8)).decimal == Decimal(string: "0.1"))
    }

    @Test("nulls are removed at every depth, from objects and from arrays", .rows("S6"))
    func removingNulls() {
        let expected: JSONValue = [
            "bool": true, "int": -7, "float": 1.5, "string": "x", "list": [1, [:]], "map": ["a": 1],
        ]
        #expect(value.removingNulls == expected)
        #expect(JSONValue.null.removingNulls == .null)
    }

    @Test("values become Foundation's objects, and numbers keep their kind")
    func foundationObject() throws {
        let object = try #require(value.foundationObject as? [String: Any])
        #expect(object["null"] is NSNull && object["string"] as? String == "x")
        #expect((object["int"] as? NSNumber)?.intValue == -7)
        #expect((object["list"] as? [Any])?.count == 3)
        let written = try JSONSerialization.data(withJSONObject: object)
        #expect(try JSONValue(reading: written) == value)
        let whole = ["18446744073709551616", "-9223372036854775809", String(repeating: "9", count: 38)]
        let large = Data("[\(whole.joined(separator: ","))]".utf8)
        let integers = JSONValue.array(whole.map { .number(.digits($0)) })
        #expect(try JSONDecoder().decode(JSONValue.self, from: large) == integers)
        #expect(try JSONEncoder().encode(integers) == large)
        let fraction = Data("18446744073709551616.5".utf8)
        #expect(try JSONDecoder().decode(JSONValue.self, from: fraction) == .number(.floating(18446744073709551616.5)))
        // A Decimal holds no more digits.
        let most = String(repeating: "9", count: 42)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(most.utf8)) == .number(.floating(1e42)))
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(["a": JSONValue.number(.digits(most))]) }
        let parameters: Parameters = ["a": [1, nil, "x", true, 1.5]]
        #expect(try Parameters(encoding: ["a": [1, nil, "x", true, 1.5]] as JSONValue) == parameters)
    }
}
