import Testing
import UncurlText

@Suite("Runs of combining marks")
struct MarkRunTests {
    private static let limit = MarkRun.limit

    /// Marks of descending classes: the worst for whoever sorts them.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{345}", count: count / 2) + String(repeating: "\u{316}", count: count - count / 2)
    }

    private static func escaped(_ count: Int) -> String { String(repeating: "\\u0301", count: count) }

    @Test("a text may have runs up to the limit, and any number of them")
    func texts() {
        #expect(!MarkRun.isTooLong(in: ""))
        #expect(!MarkRun.isTooLong(in: String(repeating: "e" + Self.marks(Self.limit), count: 5)))
        #expect(MarkRun.isTooLong(in: "e" + Self.marks(Self.limit + 1)))
        #expect(MarkRun.isTooLong(in: "e" + String(repeating: "\u{1D165}", count: Self.limit + 1)))
        #expect(!MarkRun.isTooLong(in: String(repeating: "é日", count: 1000)))
    }

    @Test("a name with a longer run is found in JSON, whether its marks are octets or escapes; values may have them")
    func names() {
        func place(_ text: String) -> Int? {
            do throws(JSONReader.Problem) {
                try JSONReader.check(Array(text.utf8).span)
                return nil
            } catch {
                return error.reason == .tooManyMarks(limit: Self.limit) ? error.offset : nil
            }
        }
        for marks in [Self.marks(Self.limit + 1), Self.escaped(Self.limit + 1), Self.marks(100) + Self.escaped(100)] {
            #expect(place("{\"e\(marks)\":1}") == 1)
            #expect(place("{\"a\":[{\"\\\\\(marks)\" \n:1}]}") == 7)
            #expect(place("{\"a\":\"e\(marks)\",\"b\":[\"\(marks)\"]}") == nil)
        }
        let pair = String(repeating: "\\uD834\\uDD65", count: Self.limit + 1)
        #expect(place("{\"e\(pair)\":1}") == 1)
        #expect(place("{\"e\(Self.marks(Self.limit))\":1,\"\\\"\(Self.escaped(Self.limit))\":2}") == nil)
        for text in ["", "\"", "\"\\", "{\"\\u03", "{\"\\uD834\\u", "\"a\"", "[\"\u{345}"] {
            #expect(place(text) == nil)
        }
    }

    @Test("in a property list, references, escapes and the limits of sections hide no mark")
    func propertyLists() {
        func isTooLong(_ text: String) -> Bool { MarkRun.isTooLong(inText: Array(text.utf8).span) }
        for mark in ["\u{301}", "&#769;", "&#x301;", "&#X0301;", "\\U0301", "\u{301}]]><![CDATA["] {
            #expect(isTooLong("<key>e" + String(repeating: mark, count: Self.limit + 1)), "\(mark)")
            #expect(!isTooLong("<key>e" + String(repeating: mark, count: Self.limit) + "</key>"), "\(mark)")
            #expect(!isTooLong(String(repeating: mark + "a", count: Self.limit + 1)), "\(mark)")
        }
        for text in ["&", "&#", "&#x", "&#99999999999;", "]]", "<![CDATA[", "\\", "\\U03", "&amp;"] {
            #expect(!isTooLong(text), "\(text)")
        }
    }

    @Test("the reader of JSON refuses such a name, takes such a value, and compares other names as before")
    func reading() throws {
        let long = "e" + Self.marks(Self.limit + 1)
        for name in [long, "e" + Self.escaped(Self.limit + 1)] {
            #expect {
                try JSONReader.read(Array("{ \"\(name)\":1}".utf8))
            } throws: { error in
                let problem = error as? JSONReader.Problem
                return problem?.offset == 2 && problem?.description.contains("combining marks") == true
            }
        }
        #expect(
            try JSONReader.read(Array("{\"a\":\"\(long)\"}".utf8))["a"]?.string?.utf8.elementsEqual(long.utf8) == true
        )
        #expect(try JSONReader.read(Array("{\"\u{E9}\":1,\"a\":2}".utf8)).sorted.line() == "{\"a\":2,\"\u{E9}\":1}")
    }
}
