internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// One request on the network, with the facts that its answer is judged by.
struct Transaction {
    let plan: RequestPlan
    /// Seconds since 1970.
    let sent: Int64
    /// The credentials that were sent with it.
    let authorized: SentAuthorization?
    /// The identity that its connection has shown to the server; nil for none, and before there is an answer.
    var identity: [UInt8]?

    var url: URL { plan.url }
    var place: HTTPURL { plan.place }
    /// The fields as they were sent, except those that the engine adds.
    var fields: HTTPFields { plan.fields }
}
