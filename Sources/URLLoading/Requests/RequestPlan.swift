internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// The engine's request and the `URLRequest` that it was made of. An equal next request reuses it.
final class RequestPlan {
    let request: EngineRequest
    let place: HTTPURL
    let scope: CookieScope
    /// The fields as they are sent, except those that the engine adds.
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

    /// Whether this plan serves another request: the same object, or an equal one without content.
    func serves(_ other: URLRequest, _ url: URL) -> Bool {
        other.storage === storage || RequestPlan.saysTheSame(other.storage.values, storage.values) && url == self.url
    }

    /// Compares the values that the server or the engine gets.
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
