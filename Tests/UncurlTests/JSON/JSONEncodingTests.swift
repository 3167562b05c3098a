import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("JSON texts")
struct JSONEncodingTests {
    private func text(_ parameters: Parameters, _ change: (inout JSONEncoding) -> Void = { _ in }) throws -> String {
        var encoding = JSONEncoding()
        change(&encoding)
        return String(decoding: try encoding.data(parameters), as: UTF8.self)
    }

    @Test(
        "every kind of value",
        .rows("Q17"),
        arguments: [
            (nil, "null"), (true, "true"), (-1, "-1"), (.unsigned(.max), "18446744073709551615"), (1.0, "1"),
            (0.1, "0.1"), (1e300, "1e+300"), (-0.0, "-0.0"), ("", "\"\""), ([], "[]"), ([:], "{}"),
            (.data(Data([1, 2])), "\"AQI=\""), (.date(Date(timeIntervalSince1970: 0)), "\"1970-01-01T00:00:00Z\""),
            (.decimal(Decimal(string: "1.10")!), "1.1"), (.set(["b", "a"]), #"["a","b"]"#),
            ("a\"\\/\n\r\t\u{8}\u{C}\u{1}\u{1F}\u{7F}é😀", "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u001f\u{7F}é😀\""),
            (["z": 1, "a": ["k": [nil]]], #"{"z":1,"a":{"k":[null]}}"#),
        ] as [(Parameters, String)]
    )
    func values(parameters: Parameters, expected: String) throws {
        let text = try text(parameters)
        #expect(text == expected)
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    @Test(
        "an error names the way to the value, also after other values",
        .rows("Q17"),
        arguments: [
            (.double(.infinity), ""), ([1, .double(.infinity)], "[1]"), (["a": ["b": .double(.infinity)]], "a.b"),
            (["x": [1, ["y": 2]], "a": [[], .set([["b": .double(.infinity)]])]], "a[1][].b"),
            (["a": [.date(Date(timeIntervalSince1970: .infinity))]], "a[0]"),
        ] as [(Parameters, String)]
    )
    func paths(parameters: Parameters, path: String) throws {
        let failure = #expect(throws: ParameterFailure.self) { try text(parameters) }
        guard case .notFinite(path, _)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("writing options", .rows("Q17"))
    func options() throws {
        #expect(try text(["z": 1, "a": 2]) { $0.sortsKeys = true } == #"{"a":2,"z":1}"#)
        #expect(try text("a/b") { $0.escapesSlashes = true } == #""a\/b""#)
        #expect(try text(["aB": 1]) { $0.keys = .snakeCase } == #"{"a_b":1}"#)
        #expect(try text(.date(Date(timeIntervalSince1970: 1.5))) { $0.dates = .millisecondsSince1970 } == "1500")
        #expect(try text(.data(Data([255]))) { $0.data = .hexadecimal } == "\"ff\"")
        #expect(
            try text(["a": [1, [:]], "b": []]) { $0.isPretty = true }
                == "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}"
        )
    }
}
