import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Content of received answers", .ownThread)
struct ReceivedResponseTests {
    /// Resident pages. Other tests take memory too: the least growth of three attempts counts.
    private func growth(_ body: () throws -> Void) throws -> Int {
        func pages() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .ascii)
            return try #require(Int(text.split(separator: " ")[1]))
        }
        return try (0..<3).map { _ in
            let before = try pages()
            try body()
            return try pages() - before
        }.min() ?? 0
    }

    @Test("the content of an empty file is empty, and leaves no memory behind")
    func emptyFile() throws {
        let file = TemporaryFile()
        let answer = ReceivedResponse(response: nil, data: Data(), fileURL: URL(fileURLWithPath: file.path))
        let grown = try growth {
            for _ in 0..<50_000 { try #require(answer.content().isEmpty) }
        }
        // Foundation would leave 50,000 pages. The process's other tests take some meanwhile.
        #expect(grown < 25_000)
    }

    @Test("the content of a file is mapped, and a file that is gone is an error")
    func file() throws {
        let file = TemporaryFile(Array("content".utf8))
        let answer = ReceivedResponse(response: nil, data: Data(), fileURL: URL(fileURLWithPath: file.path))
        #expect(try answer.content() == Data("content".utf8))
        file.remove()
        #expect(throws: SerializationFailure.self) { _ = try answer.content() }
    }
}
