import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Fields that cannot be sent", .timeLimit(.minutes(5)))
struct RefusedFieldTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func request() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: server.url("/headers"))))
    }

    private func refusedName(_ error: UncurlError?) -> String? {
        if case .header(let name)? = error { name } else { nil }
    }

    @Test("a field with CR or LF that was set on a URLRequest is an error with its name, and nothing is sent")
    func named() async throws {
        let before = server.requestCount
        for value in ["a\r\nX-Evil: 1", "a\nb", "a\rb"] {
            var single = try request()
            single.setValue(value, forHTTPHeaderField: "X-Note")
            var added = try request()
            added.addValue(value, forHTTPHeaderField: "X-Note")
            var all = try request()
            all.allHTTPHeaderFields = ["X-Good": "1", "X-Note": value]
            for request in [single, added, all] {
                let response = await server.manager().response(to: HTTPRequest(request), serializer: .data)
                #expect(refusedName(response.error) == "X-Note")
            }
        }
        #expect(server.requestCount == before)
    }

    @Test("a default is not sent in the place of a field that was refused")
    func defaults() async throws {
        let before = server.requestCount
        var request = try request()
        request.setValue("Bearer new\n", forHTTPHeaderField: "Authorization")
        var defaults = RequestDefaults()
        try defaults.setHeader("Authorization", to: "Bearer default")
        let applied = defaults.applied(to: request)
        let response = await server.manager().response(to: HTTPRequest(applied), serializer: .data)
        #expect(refusedName(response.error) == "Authorization" && server.requestCount == before)
    }

    @Test("a task of a URLRequest with such a field fails with its name, and nothing is sent")
    func task() async throws {
        let before = server.requestCount
        var request = try request()
        request.setValue("a\nb", forHTTPHeaderField: "X-Note")
        let manager = server.manager()
        let log = Log<UncurlError?>()
        manager.dataTask(with: request, serializer: .data) { log.add($0.error) }.resume()
        await log.wait(for: 1)
        #expect(refusedName(log.entries.first ?? nil) == "X-Note")
        #expect(server.requestCount == before)
    }

    @Test("a refused request keeps its URL, whatever kind of task it is for")
    func kinds() async throws {
        let before = server.requestCount
        var request = try request()
        request.httpMethod = "PUT"
        request.setValue("a\nb", forHTTPHeaderField: "X-Note")
        let manager = server.manager()
        let log = Log<(URL?, UncurlError?)>()
        let file = URL(fileURLWithPath: "/etc/hosts")
        let tasks: [URLSessionTask] = [
            manager.dataTask(with: request, serializer: .data) { log.add(($0.request?.url, $0.error)) },
            manager.dataTask(with: request) { log.add(($0.request?.url, $0.error)) },
            manager.uploadTask(with: request, from: .data(Data([1])), serializer: .data) {
                log.add(($0.request?.url, $0.error))
            },
            manager.uploadTask(with: request, from: .file(file), serializer: .data) {
                log.add(($0.request?.url, $0.error))
            },
            manager.downloadTask(with: request, serializer: .file) { log.add(($0.request?.url, $0.error)) },
        ]
        #expect(tasks.allSatisfy { $0.originalRequest?.url == request.url })
        for task in tasks { task.resume() }
        await log.wait(for: tasks.count)
        let operation = HTTPRequestOperation(request: request, manager: manager)
        operation.onCompletion { log.add(($0.request?.url, $0.error)) }
        operation.start()
        await log.wait(for: tasks.count + 1)
        let awaited = await manager.response(to: HTTPRequest(request), serializer: .data)
        let download = await manager.downloadResponse(HTTPRequest(request))
        log.add((awaited.request?.url, awaited.error))
        log.add((download.request?.url, download.error))
        for (url, error) in log.entries {
            #expect(url == request.url && refusedName(error) == "X-Note")
        }
        #expect(server.requestCount == before)
    }

    @Test("a field that an interceptor sets, and a content type, are refused likewise")
    func adapted() async throws {
        let manager = server.manager()
        let typed = HTTPRequest(.post, "post", body: .data(Data("x".utf8), contentType: "text/plain\r\nX-Evil: 1"))
        let response = await manager.response(to: typed, serializer: .data)
        #expect(refusedName(response.error) == "Content-Type")
        manager.interceptors = [
            .adapting { request, _ in
                var request = request
                request.setValue("a\nb", forHTTPHeaderField: "X-Note")
                return request
            }
        ]
        #expect(refusedName(await manager.response(to: "headers", serializer: .data).error) == "X-Note")
    }

    @Test("a field that got another value since is sent, and one that was removed is not")
    func mended() async throws {
        var request = try request()
        request.setValue("a\nb", forHTTPHeaderField: "X-Note")
        request.setValue("good", forHTTPHeaderField: "x-note")
        request.setValue("a\nb", forHTTPHeaderField: "X-Other")
        request.setValue(nil, forHTTPHeaderField: "X-Other")
        let data = try await server.manager().response(to: HTTPRequest(request), serializer: .data).result.get()
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("good") && !text.contains("X-Other"), "\(text)")
    }
}
