internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics

/// One request over the network, and the facts by which its answer is judged.
struct Transaction {
    let plan: RequestPlan
    /// Seconds since 1970.
    let sent: Int64
    /// The answer to a challenge that went along.
    let authorized: SentAuthorization?

    var url: URL { plan.url }
    var place: HTTPURL { plan.place }
    /// As they were sent, but for those that the engine adds.
    var fields: HTTPFields { plan.fields }
}
