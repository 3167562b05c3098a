import Foundation
import TestSupport
import Testing
import UncurlEngine
import UncurlTestServer

@testable import URLLoading

/// A stream that has been read cannot be read again. Foundation's `streamError` ends the process for such a stream.
@Suite("Streams that have been read", .timeLimit(.minutes(5)))
struct UsedStreamTests {
    private let server: TestServer
    private let session = URLSession(configuration: .isolated)

    init() throws { server = try TestServer.start() }

    private func post(_ stream: InputStream) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url("/upload"))))
        request.httpMethod = "POST"
        request.httpBodyStream = stream
        return request
    }

    private func failure(_ request: URLRequest) async -> URLError? {
        do {
            _ = try await session.data(for: request)
            return nil
        } catch {
            return error as? URLError
        }
    }

    private func isUsedUp(_ error: URLError?) -> Bool {
        error?.code == .requestBodyStreamExhausted && "\(error?.userInfo as Any)".contains("can be read only once")
    }

    @Test("the stream of a request that was sent once is refused when the request is sent again")
    func sentTwice() async throws {
        let request = try post(InputStream(data: Data("content".utf8)))
        #expect(await failure(request) == nil)
        let second = await failure(request)
        #expect(isUsedUp(second), "\(String(describing: second))")
    }

    @Test("a stream that the program has closed or read to its end is refused", arguments: ["closed", "at its end"])
    func usedByProgram(how: String) async throws {
        let stream = InputStream(data: Data("abc".utf8))
        stream.open()
        if how == "closed" {
            stream.close()
        } else {
            var buffer = [UInt8](repeating: 0, count: 8)
            while stream.read(&buffer, maxLength: buffer.count) > 0 {}
        }
        let error = await failure(try post(stream))
        #expect(isUsedUp(error), "\(String(describing: error))")
    }

    @Test("a stream that the program has read a part of is sent from where it stands")
    func readOn() async throws {
        let stream = InputStream(data: Data("abcdef".utf8))
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 3)
        #expect(stream.read(&buffer, maxLength: 3) == 3)
        let reader = try OneStream.reader(of: stream)
        #expect(try reader.read(atMost: 8) == Array("def".utf8))
        #expect(throws: ContentUsedUp.self) { try OneStream.reader(of: stream) }
        reader.close()
        #expect(throws: ContentUsedUp.self) { try OneStream.reader(of: stream) }
    }

    /// Gives nothing, with the error of a stream that has none.
    private final class Refusing: InputStream {
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { -1 }
    }

    @Test("a stream of the program's own class that fails without an error ends the task with one")
    func ownClass() async throws {
        let error = await failure(try post(Refusing(data: Data("abc".utf8))))
        #expect(error?.code == .requestBodyStreamExhausted && !isUsedUp(error), "\(String(describing: error))")
    }

    @Test("a loading class that reads the content of a request gets the same error for a stream that was read")
    func readForClass() throws {
        let request = try post(InputStream(data: Data("abc".utf8)))
        #expect(try request.readContent() == Data("abc".utf8))
        let error = #expect(throws: URLError.self) { try request.readContent() }
        #expect(isUsedUp(error), "\(String(describing: error))")
    }
}
