import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Lines of streams")
struct LineSplitterTests {
    /// Pieces of so many bytes.
    private func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    private func lines(_ text: String, of size: Int, limit: Int = 100) throws -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [[UInt8]] = []
        for piece in pieces(Array(text.utf8), of: size) { try splitter.take(piece, into: &lines) }
        if let last = try splitter.finish() { lines.append(last) }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "lines end at LF and CR LF, whole or byte by byte; a CR alone is content",
        .rows("B14", "W10"),
        arguments: [1, 2, 3, 100]
    )
    func ends(size: Int) throws {
        #expect(try lines("a\nb\r\n\n\r\nc\rd\ne", of: size) == ["a", "b", "", "", "c\rd", "e"])
        #expect(try lines("", of: size) == [])
        #expect(try lines("\n", of: size) == [""])
        #expect(try lines("a\r", of: size) == ["a\r"])
        #expect(try lines("größe\n😀\n", of: size) == ["größe", "😀"])
    }

    @Test(
        "a line of exactly the limit is one, a longer one is an error, however it comes",
        .rows("B14"),
        arguments: [1, 2, 3, 100]
    )
    func limit(size: Int) throws {
        #expect(try lines("12345\r\n12345\n12345", of: size, limit: 5) == ["12345", "12345", "12345"])
        for text in ["123456\n", "123456", "12345\r1", "123456\r\n", "1\n123456789"] {
            #expect(throws: StreamFailure.self, "\(text)") { try lines(text, of: size, limit: 5) }
        }
    }

    @Test("an endless line is given up at its limit, not kept", .rows("B14"))
    func endless() {
        var splitter = LineSplitter(limit: 1000)
        var lines: [[UInt8]] = []
        let failure = #expect(throws: StreamFailure.self) {
            for _ in 0..<1000 { try splitter.take([UInt8](repeating: 65, count: 100), into: &lines) }
        }
        guard case .lineTooLong(limit: 1000)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a sequence of data becomes lines; those before an error are given", .rows("W10"))
    func sequence() async throws {
        var got: [String] = []
        for try await line in stream(["a\nb", "c\r\n", "", "d"]).lines() { got.append(line) }
        #expect(got == ["a", "bc", "d"])
        got = []
        await #expect(throws: StreamFailure.self) {
            for try await line in stream(["ok\nok2\n1234567890"]).lines(limit: 5) { got.append(line) }
        }
        #expect(got == ["ok", "ok2"])
    }

    @Test("no line follows an error", .rows("W10"))
    func afterError() async throws {
        var iterator = stream(["1234567890\n", "a\n"]).lines(limit: 5).makeAsyncIterator()
        await #expect(throws: StreamFailure.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    private struct Item: Decodable, Sendable, Equatable {
        let id: Int
    }

    @Test("NDJSON gives a value for each line, skips empty lines, and names a line that is no JSON", .rows("W10"))
    func json() async throws {
        var got: [Item] = []
        for try await item in stream(["{\"id\":1}\n\n {\"id\"", ":2}\r\n\r\n{\"id\":3}"]).jsonLines(of: Item.self) {
            got.append(item)
        }
        #expect(got == [Item(id: 1), Item(id: 2), Item(id: 3)])
        got = []
        let failure = await #expect(throws: StreamFailure.self) {
            for try await item in stream(["{\"id\":1}\n\nnot json\n{\"id\":2}\n"]).jsonLines(of: Item.self) {
                got.append(item)
            }
        }
        #expect(got == [Item(id: 1)])
        guard case .undecodableLine(number: 3, line: Data("not json".utf8), _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a line of NDJSON with a name of too many combining marks is named, with the reason")
    func longNames() async throws {
        let line = "{\"e\(String(repeating: "\u{345}", count: 129))\":1}"
        let failure = await #expect(throws: StreamFailure.self) {
            for try await _ in stream(["{\"a\":1}\n", line]).jsonLines(of: [String: Int].self) {}
        }
        guard case .undecodableLine(number: 2, _, let reason as JSONFailure)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.reason == .tooManyMarks(limit: 128))
    }

    @Test("any number is accepted as a limit")
    func anyLimit() throws {
        #expect(try lines("a\r\nb", of: 1, limit: .max) == ["a", "b"])
        #expect(throws: StreamFailure.self) { try lines("a\n", of: 1, limit: .min) }
    }
}

/// Content that comes in these pieces.
func stream(_ pieces: [String], then error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
    AsyncThrowingStream { continuation in
        for piece in pieces { continuation.yield(Data(piece.utf8)) }
        continuation.finish(throwing: error)
    }
}
