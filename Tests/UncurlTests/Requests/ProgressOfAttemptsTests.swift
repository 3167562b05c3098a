import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// A request's progress where the request is sent more than once.
@Suite("Progress over several attempts", .timeLimit(.minutes(5)))
struct ProgressOfAttemptsTests {
    private let server: TestServer
    private let told = Log<Int64>()

    init() throws { server = try TestServer.start() }

    private func isRising(_ values: [Int64]) -> Bool { zip(values, values.dropFirst()).allSatisfy(<) }

    /// A request whose content is sent twice, because its answer is a 503.
    private var upload: HTTPRequest {
        var request = HTTPRequest(.post, "status/503", body: .data(Data(count: 3000)))
        request.options.interceptors = [RetryPolicy(limit: 1, retryableMethods: [.post])]
        request.options.uploadProgress = { [told] in told.add($0.completed) }
        return request
    }

    @Test("the upload progress of a stream does not go back when the request is sent again", .rows("D15"))
    func stream() async throws {
        let manager = server.manager()
        manager.clock = ImmediateClock()
        await #expect(throws: UncurlError.self) { try await manager.stream(upload) }
        #expect(isRising(told.entries) && told.entries.last == 3000, "\(told.entries)")
    }

    @Test("the upload progress of an operation does not go back, and that of its copy begins anew", .rows("D15", "O15"))
    func operation() async throws {
        let manager = server.manager()
        manager.clock = ImmediateClock()
        let first = try HTTPRequestOperation(upload, manager: manager, serializer: .data)
        for operation in [first, HTTPRequestOperation(copying: first)] {
            let before = told.entries.count
            operation.start()
            #expect(await end(operation).retryCount == 1)
            let own = Array(told.entries.dropFirst(before))
            #expect(isRising(own) && own.last == 3000, "\(own)")
        }
    }

    @Test("the download progress of a paused operation counts all of its content", .rows("D15", "O5"))
    func pause() async throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\n01234"
        let rest =
            "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\n\r\n"
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .send(whole), .stall]),
            RawScript([.receive(.headEnd), .send(rest + "56789"), .finish]),
        ])
        var request = HTTPRequest("x")
        request.options.downloadProgress = { [told] in told.add($0.completed) }
        let operation = try HTTPRequestOperation(request, manager: raw.manager(), serializer: .data)
        operation.start()
        await told.wait(for: 1)
        operation.pause()
        operation.resume()
        #expect(await end(operation).data == Data("0123456789".utf8))
        #expect(isRising(told.entries) && told.entries.last == 10, "\(told.entries)")
    }

    private func end(_ operation: HTTPRequestOperation) async -> Response<any Sendable> {
        await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
        }
    }
}
