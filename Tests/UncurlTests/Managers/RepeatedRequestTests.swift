import Foundation
import Synchronization
import Testing
import Uncurl

@Suite("Requests that say the same")
struct RepeatedRequestTests {
    private let manager = HTTPSessionManager(baseURL: URL(string: "http://example.com/v1/"))

    @Test("a repeated request is built with the settings of its own time")
    func settings() throws {
        let wanted = HTTPRequest("users")
        #expect(try manager.urlRequest(for: wanted).value(forHTTPHeaderField: "X-Key") == nil)
        var serializer = HTTPRequestSerializer()
        try serializer.defaults.setHeader("X-Key", to: "1")
        manager.requestSerializer = serializer
        #expect(try manager.urlRequest(for: wanted).value(forHTTPHeaderField: "X-Key") == "1")
        #expect(try manager.urlRequest(for: wanted).value(forHTTPHeaderField: "X-Key") == "1")
    }

    @Test("a repeated request takes no option from the request before")
    func differences() throws {
        let plain = try manager.urlRequest(for: HTTPRequest("users"))
        #expect(plain.url?.absoluteString == "http://example.com/v1/users")
        #expect(try manager.urlRequest(for: HTTPRequest("users")) == plain)
        #expect(try manager.urlRequest(for: HTTPRequest("user")).url?.absoluteString == "http://example.com/v1/user")
        #expect(try manager.urlRequest(for: HTTPRequest(.head, "users")).httpMethod == "HEAD")
        let asked = try manager.urlRequest(for: HTTPRequest("users", parameters: ["a": "b"]))
        #expect(asked.url?.query == "a=b")
        let named = try manager.urlRequest(for: HTTPRequest("users", headers: ["X-Key": "1"]))
        #expect(named.value(forHTTPHeaderField: "X-Key") == "1")
        let hurried = try manager.urlRequest(for: HTTPRequest("users", options: RequestOptions(timeout: .seconds(3))))
        #expect(hurried.timeoutInterval == 3)
        let fresh = RequestOptions(cachePolicy: .reloadIgnoringLocalCacheData)
        #expect(
            try manager.urlRequest(for: HTTPRequest("users", options: fresh)).cachePolicy
                == .reloadIgnoringLocalCacheData
        )
        #expect(try manager.urlRequest(for: HTTPRequest("users")) == plain)
    }

    @Test("a request's own options stand before the defaults of the serializer")
    func options() throws {
        var serializer = HTTPRequestSerializer()
        serializer.defaults.timeout = .seconds(60)
        serializer.defaults.cachePolicy = .returnCacheDataElseLoad
        manager.requestSerializer = serializer
        let options = RequestOptions(timeout: .seconds(5), cachePolicy: .reloadIgnoringLocalCacheData)
        let bodies: [RequestBody] = [.parameters, .data(Data("a".utf8)), .json(["a": 1]), .multipart(MultipartForm())]
        for body in bodies {
            let made = try manager.urlRequest(for: HTTPRequest(.post, "users", body: body, options: options))
            #expect(made.timeoutInterval == 5)
            #expect(made.cachePolicy == .reloadIgnoringLocalCacheData)
        }
        let plain = try manager.urlRequest(for: HTTPRequest("users"))
        #expect(plain.timeoutInterval == 60 && plain.cachePolicy == .returnCacheDataElseLoad)
    }

    @Test("content with a GET is answered by the server, whatever cache policy the serializer has")
    func contentWithGET() throws {
        var serializer = HTTPRequestSerializer()
        serializer.defaults.cachePolicy = .returnCacheDataElseLoad
        manager.requestSerializer = serializer
        var wanted = HTTPRequest(.get, "users", body: .data(Data("a".utf8)))
        wanted.options.sendsContentWithGET = true
        #expect(try manager.urlRequest(for: wanted).cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test("a serializer of the program's own is called for each request")
    func ownSerializer() throws {
        struct Counting: RequestSerializer {
            final class Count: Sendable { let value = Mutex(0) }

            let count = Count()

            func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
                var request = request
                let number = count.value.withLock { count in
                    count += 1
                    return count
                }
                request.setValue("\(number)", forHTTPHeaderField: "X-Number")
                return request
            }
        }
        manager.requestSerializer = Counting()
        let numbers = try (0..<3).map { _ in
            try manager.urlRequest(for: HTTPRequest("users")).value(forHTTPHeaderField: "X-Number")
        }
        #expect(numbers == ["1", "2", "3"])
    }
}
