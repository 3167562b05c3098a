internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// One request over the network, and what its answer is judged by.
struct Transaction {
    let url: URL
    let place: HTTPURL
    let scope: CookieScope
    /// As they were sent, but for those that the engine adds.
    let fields: HTTPFields
    /// Seconds since 1970.
    let sent: Int64
    /// The answer to a challenge that went along.
    var authorized: ProtectionSpace?

    static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
