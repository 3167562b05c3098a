internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// One request on the network, with the facts that its answer is judged by.
struct Transaction {
    let request: EngineRequest
    /// The fields as they are sent, except those that the engine adds.
    let fields: HTTPFields
    let place: HTTPURL
    let url: URL
    /// Seconds since 1970.
    let sent: Int64
    /// The credentials that were sent with it.
    let authorized: SentAuthorization?
    /// The identity that its connection has shown to the server; nil for none, and before there is an answer.
    var identity: [UInt8]?

    var scope: CookieScope { CookieScope(place) }
}

/// A request that was sent without content, cookies and credentials: the head for an origin and its fields, into which
/// the target of another request like it is written.
final class PreparedRequest {
    let request: EngineRequest
    let fields: HTTPFields
    let place: HTTPURL
    private let asked: RequestStorage

    init(_ request: EngineRequest, _ fields: HTTPFields, to place: HTTPURL, for asked: RequestStorage) {
        (self.request, self.fields, self.place, self.asked) = (request, fields, place, asked)
    }

    /// Whether another request, of the same origin and without content, is sent with the same head and the same limits.
    func serves(_ other: RequestStorage) -> Bool {
        other === asked || PreparedRequest.saysTheSame(other.values, asked.values)
    }

    /// Compares the values that the server or the engine gets.
    private static func saysTheSame(_ one: RequestValues, _ other: RequestValues) -> Bool {
        guard one.httpMethod == other.httpMethod, one.explicitTimeout == other.explicitTimeout else { return false }
        switch (one.fields, other.fields) {
        case (nil, nil): return true
        case (let some?, let others?): return some.isIdentical(to: others)
        case (nil, _?), (_?, nil): return false
        }
    }

    /// The request for a place; nil for one of another origin.
    func request(to place: HTTPURL) -> EngineRequest? {
        place == self.place ? request : EngineRequest(request, for: place)
    }
}
