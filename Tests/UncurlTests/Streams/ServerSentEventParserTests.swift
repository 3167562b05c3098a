import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Server-sent events")
struct ServerSentEventParserTests {
    private static let sizes = [1, 2, 3, 7, 10_000]

    private func parse(
        _ bytes: [UInt8],
        _ size: Int,
        _ parser: inout ServerSentEventParser
    ) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            try parser.take(bytes[start..<min(start + size, bytes.count)], into: &events)
        }
        return events
    }

    private func parse(_ text: String, _ size: Int) throws -> [ServerSentEvent] {
        var parser = ServerSentEventParser()
        return try parse(Array(text.utf8), size, &parser)
    }

    @Test(
        "data lines join by LF, an empty line dispatches, what the end cuts off is no event",
        .rows("B26"),
        arguments: sizes
    )
    func data(size: Int) throws {
        #expect(
            try parse("data: YHOO\ndata: +2\ndata: 10\n\ndata: lost", size) == [ServerSentEvent(data: "YHOO\n+2\n10")]
        )
        #expect(try parse("data: lost\n", size) == [])
    }

    @Test("an id that no field can carry is ignored, and so is one beyond the limit")
    func unusableIDs() throws {
        let long = String(repeating: "7", count: ServerSentEventParser.idLimit)
        for unusable in ["2\u{1}", "2\u{7F}", long + "7"] {
            #expect(try parse("id: 1\nid: \(unusable)\ndata: x\n\n", 7) == [ServerSentEvent(data: "x", id: "1")])
        }
        #expect(try parse("id: \(long)\ndata: x\n\n", 7) == [ServerSentEvent(data: "x", id: long)])
    }

    @Test("the examples of HTML §9.2.6", .rows("B26"), arguments: sizes)
    func examples(size: Int) throws {
        #expect(
            try parse(
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                size
            ) == [
                ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        )
        #expect(
            try parse("data\n\ndata\ndata\n\ndata:", size) == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]
        )
        #expect(
            try parse("data:test\n\ndata: test\n\n", size) == [
                ServerSentEvent(data: "test"), ServerSentEvent(data: "test"),
            ]
        )
        #expect(
            try parse("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n", size)
                == [
                    ServerSentEvent(event: "add", data: "73857293"), ServerSentEvent(event: "remove", data: "2153"),
                    ServerSentEvent(event: "add", data: "113411"),
                ]
        )
    }

    @Test("lines end at CR, LF and CR LF, mixed as they come", .rows("B26"), arguments: sizes)
    func ends(size: Int) throws {
        let expected = [ServerSentEvent(data: "a\nb"), ServerSentEvent(data: "c")]
        for text in [
            "data:a\ndata:b\n\ndata:c\n\n", "data:a\rdata:b\r\rdata:c\r\r", "data:a\r\ndata:b\r\n\r\ndata:c\r\n\r\n",
            "data:a\rdata:b\n\r\ndata:c\r\n\r",
        ] {
            #expect(try parse(text, size) == expected, "\(text.debugDescription)")
        }
    }

    @Test(
        "a byte order mark at the start is passed over, once, and half of one is content",
        .rows("B26"),
        arguments: sizes
    )
    func mark(size: Int) throws {
        #expect(try parse("\u{FEFF}data: a\n\n", size) == [ServerSentEvent(data: "a")])
        #expect(try parse("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", size) == [ServerSentEvent(data: "b")])
        var parser = ServerSentEventParser()
        #expect(
            try parse([0xEF, 0xBB] + Array("data: a\n\ndata: b\n\n".utf8), size, &parser) == [
                ServerSentEvent(data: "b")
            ]
        )
    }

    @Test(
        "an id lasts until the next, counts with its event, and with a NUL is ignored",
        .rows("B26"),
        arguments: sizes
    )
    func ids(size: Int) throws {
        var parser = ServerSentEventParser()
        let text = "id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid: 2\n\nid: 3\ndata: cut"
        #expect(
            try parse(Array(text.utf8), size, &parser) == [
                ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1"),
                ServerSentEvent(data: "c", id: "1"),
            ]
        )
        // The block with an id and no data is no event, and moves the place on; the one that was cut does not.
        #expect(parser.lastEventID == "2")
        var resumed = ServerSentEventParser(lastEventID: "2")
        #expect(
            try parse(Array("data: d\n\nid\ndata: e\n\n".utf8), size, &resumed) == [
                ServerSentEvent(data: "d", id: "2"), ServerSentEvent(data: "e"),
            ]
        )
        #expect(resumed.lastEventID == "")
    }

    @Test("retry accepts digits only", .rows("B26"), arguments: sizes)
    func retry(size: Int) throws {
        for (text, expected) in [
            ("retry: 1500\n", 1500), ("retry: 15x\n", nil), ("retry: -1\n", nil), ("retry\n", nil),
            ("retry: 99999999999999999999\n", .max),
        ] as [(String, Int?)] {
            var parser = ServerSentEventParser()
            _ = try parse(Array(text.utf8), size, &parser)
            #expect(parser.retry == expected, "\(text)")
        }
    }

    @Test("unknown fields, comments, and names in another case are ignored", .rows("B26"), arguments: sizes)
    func unknown(size: Int) throws {
        #expect(try parse(": c\n:\nfoo: bar\nDATA: x\n data: y\n\ndata: z\n\n", size) == [ServerSentEvent(data: "z")])
    }

    @Test("invalid UTF-8 is replaced", .rows("B26"), arguments: sizes)
    func repaired(size: Int) throws {
        var parser = ServerSentEventParser()
        #expect(
            try parse(Array("data: a".utf8) + [0xFF] + Array("b\n\n".utf8), size, &parser) == [
                ServerSentEvent(data: "a\u{FFFD}b")
            ]
        )
    }

    @Test("an event is bounded, over its lines together and however it comes", .rows("B26"), arguments: sizes)
    func bounded(size: Int) throws {
        var parser = ServerSentEventParser(limit: 20)
        #expect(try parse(Array("data: 5678901234567\n\ndata: 1\n\n".utf8), size, &parser).count == 2)
        for text in [
            "data: 56789012345678901", String(repeating: "data: 12345678\n", count: 3),
            String(repeating: "data\n", count: 30),
            ":" + String(repeating: "x", count: 21),
        ] {
            var parser = ServerSentEventParser(limit: 20)
            let failure = #expect(throws: StreamFailure.self) { try parse(Array(text.utf8), size, &parser) }
            guard case .eventTooLong(limit: 20)? = failure else {
                Issue.record("\(text): \(String(describing: failure))")
                continue
            }
        }
    }

    @Test("a sequence of data becomes events", .rows("W10"))
    func sequence() async throws {
        var got: [ServerSentEvent] = []
        for try await event in stream(["event: a\nda", "ta: 1\n\n", "data: 2\n\ndata: 3"]).serverSentEvents {
            got.append(event)
        }
        #expect(got == [ServerSentEvent(event: "a", data: "1"), ServerSentEvent(data: "2")])
    }

    @Test("a field with a combining mark in its name is ignored", .rows("B26"))
    func combiningMarks() throws {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        let events = try parse("data\u{301}: a\n\(run): b\ndata: c\n\n", 10_000)
        #expect(events.map(\.data) == ["c"])
    }
}
