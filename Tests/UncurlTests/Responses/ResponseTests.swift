import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Responses", .timeLimit(.minutes(5)))
struct ResponseTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("a response maps its value, keeps its facts, and describes itself in one line", .rows("A21"))
    func mapping() async throws {
        let response = await server.manager().response(to: HTTPRequest("bytes/7"), serializer: .data)
        let mapped = response.map(\.count)
        #expect(mapped.value == 7 && mapped.statusCode == 200 && mapped.data == response.data)
        #expect(mapped.description.contains("GET") && mapped.description.contains("200"))
        #expect(!mapped.description.contains("\n"))
        let failed = await server.manager().response(to: HTTPRequest("status/404"), serializer: .data).map(\.count)
        #expect(failed.value == nil && failed.rejectedValue == 0 && failed.statusCode == 404)
    }

    @Test("an optional value that is nil is a value: of an answer without content, and of a map")
    func optionalValues() async throws {
        let manager = server.manager()
        let empty = await manager.response(to: HTTPRequest("status/204"), serializer: .decodable([String]?.self))
        #expect(try empty.result.get() == nil && empty.value == .some(nil))
        let mapped = await manager.response(to: HTTPRequest("bytes/7"), serializer: .data).map { _ in Int?.none }
        #expect(try mapped.result.get() == nil && mapped.value == .some(nil))
        let again = mapped.map { $0.map { "\($0)" } ?? "none" }
        #expect(again.value == "none")
    }
}
