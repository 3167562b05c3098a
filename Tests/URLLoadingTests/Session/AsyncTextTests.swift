import Foundation
import Testing
import URLLoading
import UncurlTestServer

@Suite("Characters and scalars of an answer", .timeLimit(.minutes(5)))
struct AsyncTextTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func bytes(_ octets: [UInt8]) async throws -> URLSession.AsyncBytes {
        let text = Data(octets).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
        let url = try #require(URL(string: server.url("/base64/\(text)")))
        return try await URLSession(configuration: .isolated).bytes(from: url).0
    }

    static let texts: [[UInt8]] = [
        Array("plain".utf8), Array("äöü €".utf8), Array("e\u{301}a\u{308}\r\nx".utf8),
        Array("👨‍👩‍👧🇩🇪🇫🇷".utf8), [0x61, 0xFF, 0x62], [0xE2, 0x82], [0xE2, 0x82, 0x61], [0xED, 0xA0, 0x80],
        [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xF0, 0x9F, 0x98, 0xC3, 0xA9], [0x80], [0xE0, 0x80, 0x80],
    ]

    @Test("characters and scalars are those of the text that the octets decode to", arguments: texts)
    func same(octets: [UInt8]) async throws {
        let text = String(decoding: octets, as: UTF8.self)
        var scalars: [Unicode.Scalar] = []
        for try await scalar in try await bytes(octets).unicodeScalars { scalars.append(scalar) }
        #expect(scalars == Array(text.unicodeScalars))
        var characters: [Character] = []
        for try await character in try await bytes(octets).characters { characters.append(character) }
        #expect(characters == Array(text))
    }

    @Test("a character as long as the limit is read; a longer one throws")
    func limit() async throws {
        let limit = URLSession.AsyncBytes.AsyncCharacters.limit
        let longest = "a" + String(repeating: "\u{301}", count: limit - 1)
        var characters: [Character] = []
        for try await character in try await bytes(Array((longest + "b").utf8)).characters {
            characters.append(character)
        }
        #expect(characters.count == 2)
        let error = await #expect(throws: URLError.self) {
            for try await _ in try await bytes(Array((longest + "\u{301}").utf8)).characters {}
        }
        #expect(error?.code == .dataLengthExceedsMaximum)
    }
}
