import Foundation
import ScriptedPeer
import Testing
import URLLoading

@Suite("Lines of an answer", .timeLimit(.minutes(5)))
struct AsyncLinesTests {
    private func lines(of content: String, limit: Int) async throws -> [String] {
        let text = content.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let (bytes, _) = try await URLSession(configuration: .isolated).bytes(from: url("data:,\(text)"))
        var lines: [String] = []
        for try await line in bytes.lines(limit: limit) { lines.append(line) }
        return lines
    }

    @Test("a line as long as the limit is read; a longer one throws")
    func limit() async throws {
        #expect(try await lines(of: "abcd\nabc\r\nabcd", limit: 4) == ["abcd", "abc", "abcd"])
        for content in ["abcde\n", "a\nabcde", "abcde"] {
            await #expect { try await lines(of: content, limit: 4) } throws: {
                ($0 as? URLError)?.code == .dataLengthExceedsMaximum
            }
        }
    }

    @Test("a line without end stops the reading at the usual limit")
    func usual() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"),
                .flood([UInt8](repeating: UInt8(ascii: "a"), count: 64 << 10)),
            ]
        ])
        let (bytes, _) = try await URLSession(configuration: .isolated).bytes(from: url(server.url("/")))
        await #expect {
            for try await _ in bytes.lines {}
        } throws: {
            ($0 as? URLError)?.code == .dataLengthExceedsMaximum
        }
    }
}
