import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// A request is not sent again with a stream that has been read, whatever an interceptor decides.
@Suite("Streams that have been read, in managers", .timeLimit(.minutes(5)))
struct UsedStreamTests {
    private static let refused = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"
    private static let moved = "HTTP/1.1 307 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"
    private static let taken = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private final class Token: Authenticator {
        func apply(_ credential: Int, to request: inout URLRequest) {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: Int) async throws -> Int { credential + 1 }

        func isRequest(_ request: URLRequest, authenticatedWith credential: Int) -> Bool {
            request.value(forHTTPHeaderField: "Authorization") == "Bearer \(credential)"
        }
    }

    private enum Content: CaseIterable {
        case stream, form, closure
    }

    private enum Interceptor: CaseIterable {
        case retries, retriesLater, authenticates

        var value: any RequestInterceptor {
            switch self {
            case .retries: .retrying { _ in .retry }
            case .retriesLater: .retrying { _ in .retryAfter(.milliseconds(1)) }
            case .authenticates: AuthenticationInterceptor(authenticator: Token(), credential: 1)
            }
        }
    }

    private static func manager(_ interceptor: Interceptor) -> URLSessionManager {
        let manager = URLSessionManager(configuration: .isolated)
        manager.notificationCenter = nil
        manager.interceptors = [interceptor.value]
        manager.clock = ImmediateClock()
        return manager
    }

    private static func whole(_ server: RawServer, _ content: Content) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
        request.httpMethod = "POST"
        let stream = InputStream(data: Data("abc".utf8))
        guard content == .form else {
            request.httpBodyStream = stream
            return request
        }
        var form = MultipartForm()
        try form.append(.stream(stream), name: "s")
        return try form.request(from: request)
    }

    private static func request(_ server: RawServer, _ content: Content) throws -> HTTPRequest {
        guard content == .closure else { return HTTPRequest(try whole(server, content)) }
        let stream = Unchecked(value: InputStream(data: Data("abc".utf8)))
        return HTTPRequest(.post, server.url("/x"), body: .stream { stream.value })
    }

    private struct Unchecked: @unchecked Sendable {
        let value: InputStream
    }

    private static func isRefusal(_ error: UncurlError?, _ content: Content) -> Bool {
        switch error {
        case .bodyNotReplayable: content != .form
        case .multipart(.notReplayable): content == .form
        default: false
        }
    }

    private static func heads(_ server: RawServer) -> Int {
        String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "POST ").count - 1
    }

    @Test(
        "a decision to send a request again ends it with its own error if the content can be read only once",
        .rows("A11", "D11"),
        arguments: Content.allCases,
        Interceptor.allCases
    )
    private func decided(content: Content, interceptor: Interceptor) async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        let response = await Self.manager(interceptor)
            .response(to: try Self.request(server, content), serializer: .data)
        #expect(Self.isRefusal(response.error, content), "\(response)")
        // Only a closure is asked for another stream, which takes another attempt.
        #expect(content == .closure || response.retryCount == 0 && Self.heads(server) == 1, "\(response)")
    }

    @Test("the request of an operation is not sent again either", .rows("D11"), arguments: [Content.stream, .form])
    private func operation(content: Content) async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        let operation = HTTPRequestOperation(
            request: try Self.whole(server, content),
            manager: Self.manager(.retries),
            serializer: .data
        )
        let ended = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(Self.isRefusal(ended.error, content) && Self.heads(server) == 1, "\(ended)")
    }

    @Test("the request of a stream is not sent again either", .rows("D11"), arguments: [Content.stream, .form])
    private func streamed(content: Content) async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        let request = try Self.request(server, content)
        let error = await #expect(throws: UncurlError.self) {
            _ = try await Self.manager(.retries).stream(request)
        }
        #expect(Self.isRefusal(error, content) && Self.heads(server) == 1, "\(String(describing: error))")
    }

    @Test("an interceptor sends a request again whose stream was not read: the first attempt was not sent")
    func unread() async throws {
        let server = try RawServer.answering([Self.taken])
        var request = try Self.request(server, .stream)
        request.options.interceptors = [
            .adapting { request, attempt in
                if attempt.retryCount == 0 { throw URLError(.userAuthenticationRequired) }
                return request
            }
        ]
        let response = await Self.manager(.retries).response(to: request, serializer: .data)
        #expect(response.value == Data("ok".utf8) && response.retryCount == 1, "\(response)")
    }

    @Test("a closure that returns the stream that was read ends a redirected request with its own error", .rows("D11"))
    func redirected() async throws {
        let server = try RawServer.answering([Self.moved, Self.taken])
        let response = await URLSessionManager(configuration: .isolated)
            .response(to: try Self.request(server, .closure), serializer: .data)
        #expect(Self.isRefusal(response.error, .closure), "\(response)")
    }

    @Test("an operation whose output stream is closed ends with an error that says so")
    func closedOutput() async throws {
        let server = try TestServer.start()
        let stream = OutputStream.toMemory()
        stream.open()
        stream.close()
        let operation = HTTPRequestOperation(
            request: URLRequest(url: server.location("/bytes/1000")),
            manager: server.manager(),
            serializer: .data,
            outputStream: stream
        )
        let ended = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        guard case .output(.output(nil, written: 0))? = ended.error else {
            Issue.record("\(ended)")
            return
        }
        #expect(ended.error?.localizedDescription.contains("closed") == true)
    }
}
