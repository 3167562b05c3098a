internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// A request as the engine takes it, and what it was made from: the same question asked again is not made again.
struct RequestPlan {
    let request: EngineRequest
    let place: HTTPURL
    let scope: CookieScope
    /// As they are sent, but for those that the engine adds.
    let fields: HTTPFields
    private let url: URL
    private let storage: RequestStorage

    init(
        _ request: EngineRequest,
        _ fields: HTTPFields,
        to place: HTTPURL,
        _ scope: CookieScope,
        for asked: URLRequest,
        _ url: URL
    ) {
        self.request = request
        self.fields = fields
        self.place = place
        self.scope = scope
        self.url = url
        storage = asked.storage
    }

    /// The very same request, or another that says nothing but the same URL.
    func serves(_ other: URLRequest, _ url: URL) -> Bool {
        other.storage === storage
            || (RequestPlan.isPlain(other.storage) && RequestPlan.isPlain(storage) && url == self.url)
    }

    /// All that such a request says is its URL.
    private static func isPlain(_ storage: RequestStorage) -> Bool {
        guard case .none = storage.values.body else { return false }
        let values = storage.values
        return values.fields == nil && values.rates == nil && values.explicitTimeout == nil
            && values.httpMethod == "GET"
    }
}
