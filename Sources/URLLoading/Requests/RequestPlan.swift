internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics

/// A request as the engine takes it, and what it was made from. If the next request says the same, it is not made
/// again.
final class RequestPlan {
    let request: EngineRequest
    let place: HTTPURL
    let scope: CookieScope
    /// As they are sent, but for those that the engine adds.
    let fields: HTTPFields
    let url: URL
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

    /// Whether this plan serves another request: the same object, or one that says the same and has no content.
    func serves(_ other: URLRequest, _ url: URL) -> Bool {
        other.storage === storage || RequestPlan.saysTheSame(other.storage.values, storage.values) && url == self.url
    }

    /// Compares what reaches the server or the engine.
    private static func saysTheSame(_ one: RequestValues, _ other: RequestValues) -> Bool {
        guard case .none = one.body, case .none = other.body, one.httpMethod == other.httpMethod else { return false }
        guard one.explicitTimeout == other.explicitTimeout else { return false }
        switch (one.fields, other.fields) {
        case (nil, nil): return true
        case (let some?, let others?): return some.isIdentical(to: others)
        case (nil, _?), (_?, nil): return false
        }
    }
}
