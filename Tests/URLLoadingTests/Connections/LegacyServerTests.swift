import Foundation
import ScriptedPeer
import Testing
import UncurlEngine

@testable import URLLoading

@Suite("Servers of HTTP/1.0", .timeLimit(.minutes(5)))
struct LegacyServerTests {
    private func upload(after version: String) async throws -> (RawServer, Result<Data, any Error>) {
        let answer = "\(version) 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        // A head, and behind the second the end of the chunks.
        let server = try RawServer.start([
            [.receive(.headEnd), .send(answer), .receive(.headEnd), .receive(.headEnd), .send(answer)]
        ])
        let session = URLSession(configuration: .isolated)
        _ = try await session.data(from: url(server.url("/first")))
        var request = URLRequest(url: try url(server.url("/second")))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        do {
            return (server, .success(try await session.data(for: request).0))
        } catch {
            return (server, .failure(error))
        }
    }

    @Test(
        "the status line of an old server is read, or refused, without a wait for another",
        arguments: [
            ("ICY 200 OK", 200), ("http/1.1 200 OK", 200), ("Http/1.0 404 No", 404), ("HTTP 200 OK", nil),
            ("ICY OK", nil), ("http/2 200 OK", nil),
        ] as [(String, Int?)]
    )
    func statusLine(line: String, status: Int?) async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send("\(line)\r\nContent-Length: 2\r\n\r\nok"), .stall]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.acceptsLegacyResponses = true
        configuration.timeoutIntervalForRequest = 10
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        do {
            let (data, response) = try await session.data(from: url(server.url("/")))
            #expect((response as? HTTPURLResponse)?.statusCode == status && data == Data("ok".utf8))
        } catch {
            #expect(status == nil && (error as? URLError)?.code == .cannotParseResponse, "\(error)")
        }
    }

    @Test("content of unknown length is not sent to a server of HTTP/1.0: the task fails and says why")
    func refused() async throws {
        let (server, result) = try await upload(after: "HTTP/1.0")
        guard case .failure(let error as URLError) = result else { return #expect(Bool(false)) }
        #expect(error.cause as? EngineError == .invalidRequest(.unknownLengthToHTTP10))
        #expect(error.code == .badServerResponse)
        #expect(!String(decoding: server.received(0), as: UTF8.self).contains("/second"))
    }

    @Test("content of unknown length is sent in chunks to a server that has answered in HTTP/1.1")
    func chunked() async throws {
        let (server, result) = try await upload(after: "HTTP/1.1")
        #expect(try result.get() == Data("ok".utf8))
        let received = String(decoding: server.received(0), as: UTF8.self).lowercased()
        #expect(received.contains("/second") && received.contains("transfer-encoding: chunked"))
    }

    @Test("content of known length is sent to either")
    func known() async throws {
        let answer = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer.start([
            [.receive(.headEnd), .send(answer), .receive(.headEnd), .receive(.bytes(7)), .send(answer)]
        ])
        let session = URLSession(configuration: .isolated)
        _ = try await session.data(from: url(server.url("/first")))
        var request = URLRequest(url: try url(server.url("/second")))
        request.httpMethod = "POST"
        request.setValue("7", forHTTPHeaderField: "Content-Length")
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        #expect(try await session.data(for: request).0 == Data("ok".utf8))
        #expect(server.received(0).suffix(7).elementsEqual("content".utf8))
    }
}
