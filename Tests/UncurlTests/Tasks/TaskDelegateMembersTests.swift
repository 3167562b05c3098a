import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Members of task delegates", .timeLimit(.minutes(5)))
struct TaskDelegateMembersTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func place() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
    }

    @Test("the delegate of a data task has its head, its content, its metrics and its error", .rows("A1", "A2", "A18"))
    func data() async throws {
        let manager = server.manager()
        manager.collectsMetrics = true
        // The hooks hold the delegates, and a delegate its manager's hooks.
        defer { manager.hooks = TaskHooks() }
        let parts = Log<Int>()
        let delegates = Log<DataTaskDelegate>()
        manager.hooks.didReceiveResponse = { [weak manager] _, task, _ in
            if let delegate = manager?.delegate(for: task) as? DataTaskDelegate { delegates.add(delegate) }
            return .allow
        }
        manager.hooks.didReceiveData = { _, _, _ in
            if let delegate = delegates.entries.first { parts.add(delegate.data.count) }
        }
        let response: Response<Data> = await withCheckedContinuation { continuation in
            let task = manager.dataTask(with: URLRequest(url: server.location("/bytes/200000")), serializer: .data) {
                continuation.resume(returning: $0)
            }
            (manager.delegate(for: task) as? DataTaskDelegate)?.collectsData = true
            task.resume()
        }
        let delegate = try #require(delegates.entries.first)
        #expect(response.value?.count == 200_000 && delegate.data == response.value)
        #expect((delegate.response as? HTTPURLResponse)?.statusCode == 200 && delegate.error == nil)
        #expect(delegate.metrics != nil && delegate.timeOfFirstByte != nil)
        // In the hook the delegate has what had come before.
        #expect(parts.entries.first == 0 && parts.entries.count > 1 && parts.entries.last ?? 0 > 0)
        let refused = HTTPRequest("status/404")
        _ = await manager.response(to: refused, serializer: .data)
        #expect(delegates.entries.last?.error?.statusCode == 404)
    }

    @Test("a download's delegate may name another place, and has the file's", .rows("A3"))
    func destination() async throws {
        let manager = server.manager()
        let (first, second) = (place(), place())
        defer { try? FileManager.default.removeItem(at: second) }
        let delegates = Log<DownloadTaskDelegate>()
        let response: Response<Data> = await withCheckedContinuation { continuation in
            let task = manager.downloadTask(
                with: URLRequest(url: server.location("/bytes/10")),
                to: .file(first),
                serializer: .data
            ) { continuation.resume(returning: $0) }
            let delegate = manager.delegate(for: task) as? DownloadTaskDelegate
            delegate?.destination = .file(second)
            if let delegate { delegates.add(delegate) }
            task.resume()
        }
        #expect(response.fileURL == second && delegates.entries.first?.fileURL == second)
        #expect(!FileManager.default.fileExists(atPath: first.path))
    }

    @Test("hooks of one request's options are called after the manager's, and name a place where those do not")
    func ownHooks() async throws {
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didFinishDownloading = { _, _, _ in
            log.add("manager's")
            return nil
        }
        let place = place()
        defer { try? FileManager.default.removeItem(at: place) }
        var hooks = TaskHooks()
        hooks.didFinishDownloading = { _, _, _ in
            log.add("own")
            return place
        }
        var request = HTTPRequest("bytes/10")
        request.options.hooks = hooks
        #expect(await manager.downloadResponse(request).fileURL == place)
        #expect(log.entries == ["manager's", "own"])
        hooks.willPerformRedirection = { _, _, _, _ in nil }
        request = HTTPRequest("redirect/1")
        request.options.hooks = hooks
        #expect(await manager.response(to: request, serializer: .data).statusCode == 302)
    }

    @Test("a credential that is set on a task's delegate answers its challenge", .rows("A5", "B28"))
    func credential() async {
        let manager = server.manager()
        let status: Int? = await withCheckedContinuation { continuation in
            let address = server.location("/basic-auth/me/secret")
            let task = manager.dataTask(with: URLRequest(url: address), serializer: .data) {
                continuation.resume(returning: $0.statusCode)
            }
            let credential = URLCredential(user: "me", password: "secret", persistence: .none)
            manager.delegate(for: task)?.credential = credential
            task.resume()
        }
        #expect(status == 200)
    }

    @Test("a task that may not use the credential storage gets the challenge's answer as its own", .rows("O11"))
    func storage() async {
        let storage = URLCredentialStorage()
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCredentialStorage = storage
        let manager = HTTPSessionManager(baseURL: server.location("/"), configuration: configuration)
        let address = server.location("/basic-auth/me/secret")
        let space = URLProtectionSpace(
            host: address.host ?? "",
            port: address.port ?? 0,
            protocol: "http",
            realm: "Fake Realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "me", password: "secret", persistence: .forSession)
        storage.setDefaultCredential(credential, for: space)
        func status(usingStorage: Bool) async -> Int? {
            let operation = HTTPRequestOperation(
                request: URLRequest(url: address),
                manager: manager,
                serializer: .data,
                shouldUseCredentialStorage: usingStorage
            )
            return await withCheckedContinuation { continuation in
                operation.onCompletion { continuation.resume(returning: $0.statusCode) }
                OperationQueue().addOperation(operation)
            }
        }
        #expect(await status(usingStorage: false) == 401)
        storage.remove(credential, for: space)
    }

    @Test("a request's credential is not for the origin that a redirect leads to", .rows("B28", "D19"))
    func otherOrigin() async throws {
        let asking = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
        let other = try RawServer.start([], otherwise: RawScript.answering(Array(asking.utf8)))
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(other.url("/next"))\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.answering([asking, redirect])
        var request = HTTPRequest("x")
        request.options.credential = URLCredential(user: "me", password: "secret", persistence: .none)
        let response = await raw.manager().response(to: request, serializer: .data)
        #expect(response.statusCode == 401 && response.request?.url?.path == "/next")
        #expect(String(decoding: raw.received(0), as: UTF8.self).contains("Authorization: Basic "))
        for index in other.connections.indices {
            #expect(!String(decoding: other.received(index), as: UTF8.self).contains("Authorization"))
        }
    }
}
