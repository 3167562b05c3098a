import Testing

@testable import UncurlLoad

@Suite("Events of streams")
struct EventCounterTests {
    private func count(_ kind: StreamKind, _ text: String, pieces: Int) -> Int {
        var counter = EventCounter(kind)
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: pieces).reduce(0) { sum, start in
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            return sum + counter.count(in: piece.span)
        }
    }

    @Test(
        "events are counted as they end, however the bytes come",
        arguments: [
            (.sse, "data: 1\n\ndata: 2\n\n", 2), (.sse, "data: 1\ndata: 2\n\n", 1), (.sse, ": keep\n\n\n", 0),
            (.sse, "data: 1\r\n\r\ndata\r\n\r\n", 2), (.sse, "data:1\r\rdata:2\r\r", 2), (.sse, "database: 1\n\n", 0),
            (.sse, "id: 7\nevent: x\ndata:\n\n", 1), (.sse, "id: 7\n\ndata: 1", 0), (.sse, "xdata: 1\n\n", 0),
            (.sse, "event: data\n\n", 0), (.ndjson, "{}\n\n{}\r\n[", 2), (.ndjson, "\r\n\n", 0), (.ndjson, "1\r2\n", 2),
        ] as [(StreamKind, String, Int)]
    )
    func counts(kind: StreamKind, text: String, expected: Int) {
        for pieces in [1, 2, 3, 1_000] { #expect(count(kind, text, pieces: pieces) == expected, "\(pieces)") }
    }

    @Test("a last line without a line end is an event when the content ends, and an event of a server is not")
    func open() {
        for (kind, text, isOpen) in [
            (.ndjson, "{}\n[", true), (.ndjson, "{}\n", false), (.ndjson, "", false), (.sse, "data: 1", false),
        ] as [(StreamKind, String, Bool)] {
            var counter = EventCounter(kind)
            _ = counter.count(in: Array(text.utf8).span)
            #expect(counter.hasOpenEvent == isOpen, "\(kind) \(text)")
        }
    }

    @Test("of bytes, what comes at once is one event")
    func bytes() { #expect(count(.bytes, "abcdef", pieces: 4) == 2) }
}
