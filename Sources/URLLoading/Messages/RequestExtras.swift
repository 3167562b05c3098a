internal import Foundation
package import UncurlEngine
internal import UncurlHTTP1

/// Properties that Uncurl sets on a request, and that this room's public API does not have. Copies of the request have
/// them too. A task keeps those of its first request, so that no redirect, challenge or retry loses them; a background
/// session records them. They are never archived, except that resume data say that a request has left its origin.
extension URLRequest {
    /// Content that is neither data nor a stream of the program's, such as a form.
    package var content: Content? {
        get { if case .content(let content) = values.body { content } else { nil } }
        set { values.body = newValue.map { .content($0) } ?? .none }
    }

    /// Whether a GET's content is sent. If false, such a request is refused, as Apple's `URLSession` does.
    package var sendsContentWithGET: Bool {
        get { values.sendsContentWithGET }
        set { values.sendsContentWithGET = newValue }
    }

    /// Whether a redirect of an earlier task, which this request resumes, has led to another origin. That origin gets
    /// no secrets of a session or a manager.
    package var hasLeftOrigin: Bool { values.hasLeftOrigin }

    /// The name of a field that was refused because it cannot be sent, and has got no other value since; nil for none.
    package var refusedField: String? { values.refusedField }

    /// Whether this field was refused because it cannot be sent, and has got no other value since.
    package func refuses(_ name: String) -> Bool { values.isRefused(name) }

    /// Why a task of the request fails: it would be sent without such a field. Nil for none.
    var fieldRefusal: String? {
        refusedField.map { "the field “\($0)” was given a value that cannot be sent" }
    }

    /// How fast the content is sent and the answer is read.
    package var rates: TransferRates? {
        get { terms.rates }
        set { terms.rates = newValue }
    }

    /// The request's own terms of transfer, which replace those of its session.
    package var terms: TransferTerms {
        get { values.terms?.values ?? TransferTerms() }
        set { values.terms = newValue == TransferTerms() ? nil : TermsBox(newValue) }
    }

    /// Sets the terms that are given.
    package mutating func replaceTerms(by given: TransferTerms) { terms = given.over(terms) }
}

/// All header fields of a request, to be given to other requests as they are: nothing is checked or copied again.
package struct SharedFields: Sendable {
    fileprivate let fields: HTTPFields?
}

extension URLRequest {
    /// See ``RequestValues/replaceFields(by:)``.
    package mutating func replaceFields(by given: [(name: String, value: String)]) {
        values.replaceFields(by: given)
    }

    package var hasFields: Bool { values.fields != nil }

    package var sharedFields: SharedFields {
        get { SharedFields(fields: values.fields) }
        set { values.replaceFields(newValue.fields) }
    }
}

/// One request's own terms of transfer, which replace those of its session. They hold for every transaction of a task:
/// redirects, challenges, retries.
package struct TransferTerms: Hashable, Sendable {
    /// How fast content is sent and answers are read.
    package var rates: TransferRates?
    /// The limit on making a connection, in seconds; nil for the request's limit on idleness.
    package var connectLimit: Double?
    /// The limit from the end of the request to the first byte of its answer, in seconds; nil for the limit on idleness
    /// alone.
    package var firstByteLimit: Double?
    /// The endpoint of the connections for the first request's host and port; nil for this host and port.
    package var endpoint: Endpoint?
    /// The proxies that replace the session's. Their credentials are those that they hold here.
    package var proxies: OriginProxies?
    /// The limits on what comes before and after the content of answers.
    package var responseLimits: ResponseLimits?

    package init() {}

    /// These terms, and where they have none, the others.
    package func over(_ others: TransferTerms) -> TransferTerms {
        var terms = self
        terms.rates = rates ?? others.rates
        terms.connectLimit = connectLimit ?? others.connectLimit
        terms.firstByteLimit = firstByteLimit ?? others.firstByteLimit
        terms.endpoint = endpoint ?? others.endpoint
        terms.proxies = proxies ?? others.proxies
        terms.responseLimits = responseLimits ?? others.responseLimits
        return terms
    }

    /// The idle limit counts from the first packet, so it also ends the wait for a server that never answers. The wait
    /// for a connection is as silent.
    func timeouts(idle: Duration?) -> Timeouts {
        Timeouts(
            connect: connectLimit.map { TimeLimit.duration($0) } ?? idle,
            poolWait: idle,
            responseHead: firstByteLimit.flatMap { TimeLimit.duration($0) },
            idle: idle
        )
    }

    /// The limit on making a connection, in seconds; nil if ``connectLimit`` is nil or means no limit.
    package var connectTime: Double? { connectLimit.flatMap { TimeLimit.duration($0) == nil ? nil : $0 } }
}

/// Terms as an object: nearly no request has terms, so a copy of a request copies only a reference.
final class TermsBox: Sendable {
    let values: TransferTerms

    init(_ values: TransferTerms) { self.values = values }
}

/// Limits on the speed of a transfer; nil for none.
package struct TransferRates: Hashable, Sendable {
    package var sending: TransferRate?
    package var receiving: TransferRate?

    package init(sending: TransferRate? = nil, receiving: TransferRate? = nil) {
        self.sending = sending
        self.receiving = receiving
    }
}

/// The error for content that must be sent again after a redirect, a challenge or a lost connection, but can be read
/// only once.
package struct ContentUsedUp: Error, Hashable, Sendable, CustomStringConvertible {
    package let description = "the content is needed again, and a stream in it can be read only once"
}
