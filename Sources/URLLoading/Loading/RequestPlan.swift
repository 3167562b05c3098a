internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// A request as the engine takes it, and what it was made from: the same question asked again is not made again.
struct RequestPlan {
    let request: EngineRequest
    /// The request's content, for progress; -1 where nobody knows.
    let contentLength: Int64
    private let url: URL
    private let storage: RequestStorage

    init(_ request: EngineRequest, _ contentLength: Int64, for asked: URLRequest, _ url: URL) {
        self.request = request
        self.contentLength = contentLength
        self.url = url
        storage = asked.storage
    }

    /// The very same request, or another that says nothing but the same URL.
    func serves(_ other: URLRequest, _ url: URL) -> Bool {
        other.storage === storage || (RequestPlan.isPlain(other) && RequestPlan.isPlain(storage) && url == self.url)
    }

    /// All that such a request says is its URL.
    private static func isPlain(_ request: URLRequest) -> Bool { isPlain(request.storage) }

    private static func isPlain(_ storage: RequestStorage) -> Bool {
        let values = storage.values
        guard case .none = values.body else { return false }
        return values.fields == nil && values.explicitTimeout == nil && values.httpMethod == "GET"
            && values.cachePolicy == .useProtocolCachePolicy && values.httpShouldHandleCookies
    }
}
