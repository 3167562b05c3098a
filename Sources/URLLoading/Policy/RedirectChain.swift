internal import Foundation

/// The redirects of one task so far: how many, and whether they go round in a circle.
struct RedirectChain: Sendable {
    /// As browsers have it. RFC 9110 §15.4 asks for a limit and names none.
    static let limit = 20

    private struct Step: Hashable {
        let method: String
        let url: String
        let cookies: String?
    }

    private(set) var count = 0
    private var steps: Set<Step> = []

    /// Takes note of a request and where it is sent on to. False: that leads nowhere, and the task fails with
    /// `httpTooManyRedirects`.
    ///
    /// The same method for the same URL is a circle only with the same cookies: pages that set one and send back to
    /// themselves are common.
    ///
    /// - Parameters:
    ///   - method: of the request that is about to be sent.
    ///   - cookies: its Cookie field.
    mutating func follow(method: String, url: URL, cookies: String?) -> Bool {
        count += 1
        return count <= Self.limit && note(method: method, url: url, cookies: cookies)
    }

    /// Takes note of the first request.
    @discardableResult
    mutating func note(method: String, url: URL, cookies: String?) -> Bool {
        let text = url.absoluteString
        let place = text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
        return steps.insert(Step(method: method, url: place, cookies: cookies)).inserted
    }
}
