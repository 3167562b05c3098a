import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("A manager's defaults", .timeLimit(.minutes(5)))
struct ManagerDefaultsTests {
    private let manager = HTTPSessionManager(baseURL: URL(string: "http://example.com/v1/"), configuration: .isolated)

    init() throws {
        manager.requestDefaults.timeout = .seconds(20)
        manager.requestDefaults.cachePolicy = .reloadIgnoringLocalCacheData
        try manager.requestDefaults.setHeader("X-Key", to: "manager")
        try manager.requestDefaults.setHeader("User-Agent", to: "Mine/1")
    }

    @Test("fields and limits survive a change of the manager's serializer, and a request with a serializer of its own")
    func survive() throws {
        let serializers: [any RequestSerializer] = [
            HTTPRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer(),
        ]
        func check(_ request: HTTPRequest, _ line: SourceLocation = #_sourceLocation) throws {
            let made = try manager.urlRequest(for: request)
            #expect(made.value(forHTTPHeaderField: "X-Key") == "manager", sourceLocation: line)
            #expect(made.value(forHTTPHeaderField: "User-Agent") == "Mine/1", sourceLocation: line)
            #expect(made.value(forHTTPHeaderField: "Accept-Language") != nil, sourceLocation: line)
            #expect(made.timeoutInterval == 20, sourceLocation: line)
            #expect(made.cachePolicy == .reloadIgnoringLocalCacheData, sourceLocation: line)
        }
        for serializer in serializers {
            manager.requestSerializer = serializer
            try check(HTTPRequest("users"))
            try check(HTTPRequest(.post, "users", parameters: ["a": 1]))
            try check(HTTPRequest(.post, "users", body: .multipart(MultipartForm())))
            try check(HTTPRequest(.post, "users", parameters: ["a": 1], serializer: HTTPRequestSerializer()))
        }
    }

    @Test("a request's own fields come before the manager's, and these before the serializer's")
    func order() throws {
        var serializer = HTTPRequestSerializer()
        serializer.defaults.timeout = .seconds(60)
        serializer.defaults.networkServiceType = .background
        try serializer.defaults.setHeader("x-key", to: "serializer")
        manager.requestSerializer = serializer
        let plain = try manager.urlRequest(for: HTTPRequest("users"))
        #expect(plain.timeoutInterval == 20 && plain.networkServiceType == .background)
        #expect(plain.value(forHTTPHeaderField: "X-Key") == "manager")
        let options = RequestOptions(timeout: .seconds(5), cachePolicy: .returnCacheDataElseLoad)
        let own = try manager.urlRequest(for: HTTPRequest("users", headers: ["X-Key": "own"], options: options))
        #expect(own.timeoutInterval == 5 && own.cachePolicy == .returnCacheDataElseLoad)
        #expect(own.value(forHTTPHeaderField: "X-Key") == "own")
    }

    @Test("a change applies to the next request, and a copied manager has defaults of its own")
    func changes() throws {
        let copy = HTTPSessionManager(copying: manager)
        #expect(try manager.urlRequest(for: "users").timeoutInterval == 20)
        manager.requestDefaults.timeout = .seconds(30)
        #expect(try manager.urlRequest(for: "users").timeoutInterval == 30)
        #expect(try copy.urlRequest(for: "users").timeoutInterval == 20)
        #expect(try copy.urlRequest(for: "users").value(forHTTPHeaderField: "X-Key") == "manager")
        manager.requestDefaults = .none
        #expect(try manager.urlRequest(for: "users").value(forHTTPHeaderField: "X-Key") == nil)
    }

    @Test("a complete request gets no defaults")
    func complete() throws {
        let given = URLRequest(url: URL(string: "http://example.com/")!)
        #expect(try manager.urlRequest(for: HTTPRequest(given)) == given)
    }

    @Test("the defaults reach the server")
    func sent() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let manager = server.manager()
        try manager.requestDefaults.setHeader("X-Key", to: "manager")
        manager.requestSerializer = .json
        let request = HTTPRequest(.post, "anything", parameters: ["a": 1])
        let answer = await manager.response(to: request, serializer: .string)
        #expect(answer.value?.contains("manager") == true, "\(answer)")
    }

    @Test("changes of a manager's settings on several threads are all kept", .timeLimit(.minutes(5)))
    func concurrent() async throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        let count = 200
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for index in 0..<count {
                        try? manager.requestDefaults.setHeader("X-\(thread)-\(index)", to: "1")
                        manager.interceptors.append(ClosureInterceptor())
                        manager.monitors.append(ClosureEventMonitor(queue: .main) { _ in })
                        if index % 2 == 0 { manager.deadline = .seconds(100) } else { manager.collectsMetrics.toggle() }
                    }
                }
            }
        }
        #expect(manager.requestDefaults.headers.count == 8 * count)
        #expect(manager.interceptors.count == 8 * count && manager.monitors.count == 8 * count)
        #expect(manager.deadline == .seconds(100) && !manager.collectsMetrics)
    }

    @Test("a change of a setting may change another one, and read the same one")
    func nested() throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        manager.interceptors = [ClosureInterceptor(), ClosureInterceptor()]
        manager.interceptors.removeAll { _ in
            manager.deadline = .seconds(1)
            return manager.monitors.isEmpty
        }
        #expect(manager.interceptors.isEmpty && manager.deadline == .seconds(1))
    }

    @Test("a manager has the shared reachability until the program sets its own")
    func reachability() throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        #expect(manager.reachability === ReachabilityManager.shared)
        let own = try ReachabilityManager(host: "localhost")
        manager.reachability = own
        #expect(manager.reachability === own && HTTPSessionManager(copying: manager).reachability === own)
    }
}
