import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Reading JSON")
struct JSONReadingTests {
    private func read(_ text: String) throws -> JSONValue { try JSONValue(reading: Data(text.utf8)) }

    @Test(
        "every kind of value is read, also by itself",
        .rows("S5", "A15"),
        arguments: [
            ("null", nil), ("true", true), ("false", false), (" \t\r\n1 ", 1), ("-1", -1), ("0", 0), ("-0", 0),
            ("9223372036854775807", 9_223_372_036_854_775_807), ("-9223372036854775808", .number(.integer(.min))),
            ("18446744073709551615", .number(.unsigned(.max))),
            ("18446744073709551616", .number(.digits("18446744073709551616"))),
            ("-9223372036854775809", .number(.digits("-9223372036854775809"))),
            ("1.0", 1.0), ("-0.5e-2", -0.005), ("1E+2", 100.0), ("1e-400", 0.0),
            ("\"\"", ""), ("\"é😀\"", "é😀"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""a\u00e9b\u0000\uD83D\ude00c""#, "aéb\u{0}😀c"), ("[]", []), ("[ ]", []), ("{}", [:]), ("{ }", [:]),
            (#"[1,[2,{"a":null}]]"#, [1, [2, ["a": nil]]]), (#"{"a":1,"a":2}"#, ["a": 2]),
        ] as [(String, JSONValue)]
    )
    func values(text: String, expected: JSONValue) throws {
        #expect(try read(text) == expected)
        #expect(try read("[\(text) , \(text)]") == [expected, expected])
        #expect(try read(expected.description) == expected)
    }

    @Test(
        "text outside the grammar is an error with its position",
        arguments: [
            ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
            ("{\"a\"", .unexpectedEnd, 4), ("\"a", .unexpectedEnd, 2), ("\"\\", .unexpectedEnd, 2),
            ("\"\\u12", .unexpectedEnd, 5), ("tru", .unexpectedEnd, 3), ("trux", .unexpected(octet: 0x78), 3),
            ("[1,]", .unexpected(octet: 0x5D), 3), ("[,1]", .unexpected(octet: 0x2C), 1),
            ("{\"a\":1,}", .unexpected(octet: 0x7D), 7), ("{a:1}", .unexpected(octet: 0x61), 1),
            ("{\"a\" 1}", .unexpected(octet: 0x31), 5), ("[1 2]", .unexpected(octet: 0x32), 3),
            ("'a'", .unexpected(octet: 0x27), 0), ("01", .invalidNumber, 2), ("-", .unexpectedEnd, 1),
            ("-x", .invalidNumber, 1), ("1.", .unexpectedEnd, 2), ("1.x", .invalidNumber, 2), ("1e", .unexpectedEnd, 2),
            ("1e+", .unexpectedEnd, 3), (".5", .unexpected(octet: 0x2E), 0), ("+1", .unexpected(octet: 0x2B), 0),
            ("NaN", .unexpected(octet: 0x4E), 0), ("1e400", .numberOutOfRange, 5), ("1 2", .trailingOctets, 2),
            ("{} x", .trailingOctets, 3), ("\"\n\"", .controlInString(10), 1), ("\"\\n\u{1}\"", .controlInString(1), 3),
            ("\"\\x\"", .invalidEscape, 2), ("\"\\u12g4\"", .invalidEscape, 5), ("\"\\uD83D\"", .loneSurrogate, 3),
            ("\"\\uD83Dx\"", .loneSurrogate, 3), ("\"\\uD83D\\n\"", .loneSurrogate, 3),
            ("\"\\uD83D\\uD83D\"", .loneSurrogate, 3), ("\"\\uDE00\"", .loneSurrogate, 3),
            ("// x\n1", .unexpected(octet: 0x2F), 0),
        ] as [(String, JSONFailure.Reason, Int)]
    )
    func errors(text: String, reason: JSONFailure.Reason, offset: Int) {
        let failure = #expect(throws: JSONFailure.self) { try read(text) }
        #expect(failure?.reason == reason)
        #expect(failure?.offset == offset)
        #expect(failure?.description.contains("octet") == true)
    }

    @Test(
        "invalid UTF-8 is an error with its position",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]]
    )
    func invalidUTF8(octets: [UInt8]) {
        let failure = #expect(throws: JSONFailure.self) {
            try JSONValue(reading: Data(Array("[\"a".utf8) + octets + Array("\"]".utf8)))
        }
        #expect(failure?.reason == .invalidUTF8)
        #expect(failure?.offset == 3)
    }

    @Test("nesting is read to 512 levels, and is an error beyond, however deep")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try read(nested(512)).array?.count == 1)
        for depth in [513, 1_000_000] {
            let failure = #expect(throws: JSONFailure.self) { try read(nested(depth)) }
            #expect(failure?.reason == .tooDeep(limit: 512))
        }
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        #expect(throws: JSONFailure.self) { try read(objects) }
    }

    @Test("a text that is cut anywhere is an error and does not trap")
    func cuts() {
        let text = Array(#"{"a\u00e9":[1,-2.5e3,true,null,"x\uD83D\uDE00é"],"b":{}}"#.utf8)
        for end in 0..<text.count {
            #expect(throws: JSONFailure.self) { try JSONValue(reading: Data(text[..<end])) }
        }
    }

    @Test("any octet at any position gives a value or an error, and Foundation reads every value alike")
    func mutations() {
        let text = Array(#"{"a":[1,-2.5e3,true,null,"x\ué"],"b":{}}"#.utf8)
        for place in text.indices {
            for octet: UInt8 in [0, 0x20, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xFF] {
                var changed = text
                changed[place] = octet
                // Zeros at the front mean other encodings.
                guard let value = try? JSONValue(reading: Data(changed)), octet != 0 else { continue }
                let other = try? JSONSerialization.jsonObject(with: Data(changed), options: .fragmentsAllowed)
                #expect(other != nil, "\(value)")
            }
        }
    }

    @Test(
        "UTF-8, UTF-16 and UTF-32 are detected by a byte order mark or by their zeros",
        .rows("S5"),
        arguments: [
            (String.Encoding.utf8, [0xEF, 0xBB, 0xBF]), (.utf8, []), (.utf16BigEndian, []), (.utf16LittleEndian, []),
            (.utf32BigEndian, []), (.utf32LittleEndian, []), (.utf16BigEndian, [0xFE, 0xFF]),
            (.utf16LittleEndian, [0xFF, 0xFE]), (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
            (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]),
        ] as [(String.Encoding, [UInt8])]
    )
    func encodings(encoding: String.Encoding, mark: [UInt8]) throws {
        for text in [#"{"é😀":1}"#, "7", "[\"日本\"]"] {
            let octets = Data(mark) + (text.data(using: encoding) ?? Data())
            #expect(try JSONValue(reading: octets) == read(text), "\(octets as NSData)")
        }
    }

    @Test(
        "half a unit of UTF-16 or UTF-32 is an error",
        arguments: [[0, 0x5B, 0], [0x5B, 0, 0x5D], [0, 0, 0, 0x5B, 0], [0, 0xD8]]
    )
    func halfUnits(octets: [UInt8]) {
        #expect(throws: JSONFailure.self) { try JSONValue(reading: Data(octets)) }
    }

    @Test("a slice of data that does not begin at 0 is read")
    func slices() throws {
        let data = Data("xx[1]yy".utf8)
        #expect(try JSONValue(reading: data[2..<5]) == [1])
    }

    @Test("a name with too many combining marks in a row is an error with its place; a value may have them")
    func longRuns() throws {
        let marks = String(repeating: "\u{345}", count: 100) + String(repeating: "\\u0316", count: 29)
        for text in ["[{\"e\(marks)\":1}]", "[{\"\(marks)\" : 1}]"] {
            let failure = #expect(throws: JSONFailure.self) { try read(text) }
            #expect(failure?.reason == .tooManyMarks(limit: 128) && failure?.offset == 2)
            let decoder = DecodableResponseSerializer([[String: Int]].self)
            let outcome = decoder.outcome(of: answer(text, type: "application/json"))
            #expect(outcome.serializationFailure?.underlying as? JSONFailure == failure)
        }
        let value = "{\"a\":\"e\(marks)\"}"
        #expect(try read(value).object?["a"]?.string?.unicodeScalars.count == 130)
        let decoded = DecodableResponseSerializer([String: String].self)
        let outcome = decoded.outcome(of: answer(value, type: "application/json"))
        #expect(outcome.value?["a"]?.unicodeScalars.count == 130)
    }
}
