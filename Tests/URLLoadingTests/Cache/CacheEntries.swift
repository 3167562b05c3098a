import URLLoading
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

/// Responses for the caches of tests.
enum CacheEntries {
    static func request(_ text: String, method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try url(text))
        request.httpMethod = method
        return request
    }

    /// With a body of that many octets.
    static func entry(
        _ text: String = "http://h/",
        _ size: Int = 10,
        policy: URLCache.StoragePolicy = .allowed,
        userInfo: [AnyHashable: Any]? = nil
    ) throws -> CachedURLResponse {
        let response = HTTPURLResponse(
            url: try url(text),
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["ETag": "\"a\"", "Vary": "Accept"]
        )
        guard let response else { throw URLError(.badServerResponse) }
        return CachedURLResponse(
            response: response,
            data: Data(repeating: UInt8(truncatingIfNeeded: size), count: size),
            userInfo: userInfo,
            storagePolicy: policy
        )
    }

    /// As a session stores it.
    static func received(
        _ fields: HTTPFields,
        at text: String = "http://h/",
        data: Data = Data("body".utf8)
    ) throws
        -> CachedURLResponse
    {
        CachedURLResponse(
            response: HTTPURLResponse(LocatedHead(try ResponseHead(status: 200, fields: fields), text), try url(text)),
            data: data,
            userInfo: nil,
            storagePolicy: .allowed,
            record: CacheRecord(
                varying: VaryRule.usual.select(URLLoadingTests.fields(("Accept", "a, b")), varying: fields),
                requested: 100,
                received: 101
            )
        )
    }
}
