import Testing

@testable import URLLoading

@Suite("Notes on cached responses")
struct CacheNotesTests {
    @Test("values that files can hold come back")
    func roundTrip() throws {
        let date = Date(timeIntervalSince1970: 12.5)
        let notes: [AnyHashable: Any] = [
            "text": "x", "truth": true, "whole": 42, "real": 1.5, "data": Data([1, 2]), "date": date,
            "list": [1, "two", [3]] as [Any], "table": ["a": ["b": 1]],
        ]
        let bytes = try #require(CacheNotes.encode(notes))
        let back = try #require(CacheNotes.decode(bytes[...]))
        #expect(back["text"] as? String == "x" && back["truth"] as? Bool == true && back["whole"] as? Int == 42)
        #expect(
            back["real"] as? Double == 1.5 && back["data"] as? Data == Data([1, 2]) && back["date"] as? Date == date
        )
        #expect((back["list"] as? [Any])?.count == 3)
        #expect((back["table"] as? [AnyHashable: Any])?["a"] as? [String: Int] == ["b": 1])
    }

    @Test("no notes are no octets, and no octets are no notes")
    func none() {
        #expect(CacheNotes.encode(nil) == [])
        #expect(CacheNotes.decode([]) == nil)
        #expect(CacheNotes.decode([1, 2, 3]) == nil)
    }

    @Test("values that no file can hold are refused: other types, other keys, nesting without end")
    func refused() {
        #expect(CacheNotes.encode(["x": NSObject()]) == nil)
        #expect(CacheNotes.encode([1: "x"]) == nil)
        var deep: Any = 1
        for _ in 0..<100 { deep = [deep] }
        #expect(CacheNotes.encode(["x": deep]) == nil)
    }

    @Test("names with too many combining marks in a row are neither written nor read; such texts are both")
    func longNames() throws {
        let long = "e" + String(repeating: "\u{345}", count: 129)
        #expect(CacheNotes.encode([long: 1]) == nil)
        #expect(CacheNotes.encode(["a": [long: 1]]) == nil)
        let written = "{\"table\":{\"_0\":{\"\(long)\":{\"whole\":{\"_0\":1}}}}}"
        #expect(CacheNotes.decode(Array(written.utf8)[...]) == nil)
        let text = try #require(CacheNotes.encode(["a": long]))
        #expect((CacheNotes.decode(text[...])?["a"] as? String)?.utf8.count == long.utf8.count)
    }
}
