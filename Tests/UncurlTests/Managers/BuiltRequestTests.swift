import Foundation
import Synchronization
import Testing
import Uncurl

@Suite("Requests that say the same")
struct BuiltRequestTests {
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
        let hurried = try manager.urlRequest(for: HTTPRequest("users", options: RequestOptions(timeout: 3)))
        #expect(hurried.timeoutInterval == 3)
        let fresh = RequestOptions(cachePolicy: .reloadIgnoringLocalCacheData)
        #expect(
            try manager.urlRequest(for: HTTPRequest("users", options: fresh)).cachePolicy
                == .reloadIgnoringLocalCacheData
        )
        #expect(try manager.urlRequest(for: HTTPRequest("users")) == plain)
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
