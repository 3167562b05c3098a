import ScriptedPeer
import Testing

@testable import URLLoading

@Suite("Zones of addresses in URLs", .timeLimit(.minutes(5)))
struct ZoneTests {
    @Test(
        "a URL whose address has a zone is refused with the reason, by each kind of task",
        arguments: ["http://[::1%25lo]:1/", "https://[fe80::1%25lo]/", "ws://[::1%25lo]:1/", "http://[::1%lo]/"]
    )
    func refused(text: String) async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let address = try url(text)
        let error: URLError?
        if text.hasPrefix("ws") {
            let task = session.webSocketTask(with: address)
            task.resume()
            error = await #expect(throws: URLError.self) { try await task.receive() }
        } else {
            error = await #expect(throws: URLError.self) { try await session.data(from: address) }
        }
        #expect(error?.code == .badURL)
        let words = (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        #expect(words?.contains("zone") == true, "\(words ?? "")")
    }

    @Test("a redirect to an address with a zone is the answer")
    func redirect() async throws {
        let answer = "HTTP/1.1 302 Found\r\nLocation: http://[::1%25lo]/\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.start([], otherwise: .answering(Array(answer.utf8)))
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        await #expect { _ = try await session.data(from: try url(raw.url("/"))) } throws: { error in
            (error as? URLError)?.code == .badURL
        }
    }
}
