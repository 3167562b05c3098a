import FacadeTestSupport
import Foundation
import Testing
import Uncurl
import UncurlTestServer

@Suite("The most that a manager keeps of a response", .timeLimit(.minutes(5)))
struct MaximumDataLengthTests {
    private func code(_ error: UncurlError?) -> URLError.Code? {
        if case .transport(let error)? = error { error.code } else { nil }
    }

    @Test("a request's limit holds for its decoded content in memory; files and streams have none")
    func option() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let options = RequestOptions(maximumDataLength: 100)
        #expect(await manager.response(to: HTTPRequest("bytes/100", options: options)).data.count == 100)
        for path in ["bytes/101", "gzip"] {
            let response = await manager.response(to: HTTPRequest(path, options: options))
            #expect(code(response.error) == .dataLengthExceedsMaximum, "\(path)")
        }
        #expect(await manager.response(to: HTTPRequest("bytes/101")).data.count == 101)
        let download = await manager.downloadResponse(HTTPRequest("bytes/1000", options: options))
        let file = try #require(download.value)
        #expect(try Data(contentsOf: file).count == 1_000)
        try FileManager.default.removeItem(at: file)
    }

    @Test("the limit of the manager's session holds for all its requests, unless one has its own")
    func session() async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.maximumDataLength = 100
        let manager = HTTPSessionManager(baseURL: server.location("/"), configuration: configuration)
        let refused = await manager.response(to: HTTPRequest("bytes/101"))
        #expect(code(refused.error) == .dataLengthExceedsMaximum)
        let options = RequestOptions(maximumDataLength: 101)
        #expect(await manager.response(to: HTTPRequest("bytes/101", options: options)).data.count == 101)
    }
}
