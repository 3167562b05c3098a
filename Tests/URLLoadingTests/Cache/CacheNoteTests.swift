import Testing

@testable import URLLoading

@Suite("Notes on cached responses")
struct CacheNoteTests {
    @Test("values that files can hold come back")
    func roundTrip() throws {
        let date = Date(timeIntervalSince1970: 12.5)
        let notes: [AnyHashable: Any] = [
            "text": "x", "truth": true, "whole": 42, "real": 1.5, "data": Data([1, 2]), "date": date,
            "list": [1, "two", [3]] as [Any], "table": ["a": ["b": 1]],
        ]
        let bytes = try #require(CacheNote.encode(notes))
        let back = try #require(CacheNote.decode(bytes))
        #expect(back["text"] as? String == "x" && back["truth"] as? Bool == true && back["whole"] as? Int == 42)
        #expect(
            back["real"] as? Double == 1.5 && back["data"] as? Data == Data([1, 2]) && back["date"] as? Date == date
        )
        #expect((back["list"] as? [Any])?.count == 3)
        #expect((back["table"] as? [AnyHashable: Any])?["a"] as? [String: Int] == ["b": 1])
    }

    @Test("no notes are no octets, and no octets are no notes")
    func none() {
        #expect(CacheNote.encode(nil) == nil)
        #expect(CacheNote.decode(Data()) == nil)
        #expect(CacheNote.decode(Data([1, 2, 3])) == nil)
    }

    @Test("values that no file can hold are refused: other types, other keys, nesting without end")
    func refused() {
        #expect(CacheNote.encode(["x": NSObject()]) == nil)
        #expect(CacheNote.encode([1: "x"]) == nil)
        var deep: Any = 1
        for _ in 0..<100 { deep = [deep] }
        #expect(CacheNote.encode(["x": deep]) == nil)
    }

    @Test("names with too many combining marks in a row are neither written nor read; such texts are both")
    func longNames() throws {
        let long = "e" + String(repeating: "\u{345}", count: 129)
        #expect(CacheNote.encode([long: 1]) == nil)
        #expect(CacheNote.encode(["a": [long: 1]]) == nil)
        let short = "e" + String(repeating: "\u{345}", count: 1)
        let written = try #require(CacheNote.encode([short: 1]))
        #expect(CacheNote.decode(written)?.count == 1)
        let place = try #require(written.firstRange(of: Data(short.utf8)))
        var foreign = written
        foreign.replaceSubrange(place, with: Data(long.utf8))
        // The lengths of the key and of the fields that it is in.
        let more = UInt16(long.utf8.count - short.utf8.count)
        for length in [place.lowerBound - 8, 0, 8 + 16] {
            let count = UInt16(foreign[length]) + UInt16(foreign[length + 1]) << 8 + more
            (foreign[length], foreign[length + 1]) = (UInt8(count & 255), UInt8(count >> 8))
        }
        #expect(CacheNote.decode(foreign) == nil)
        let text = try #require(CacheNote.encode(["a": long]))
        #expect((CacheNote.decode(text)?["a"] as? String)?.utf8.count == long.utf8.count)
    }
}
