public import URLLoading

/// What happens to an answer that redirects.
@frozen public enum RedirectBehavior: Sendable {
    /// Redirects are followed by the rules of RFC 9110 §15.4. Credentials do not cross to another origin.
    case follow
    /// The redirect itself is the answer.
    case doNotFollow
    /// The closure returns the request that follows; nil makes the redirect itself the answer.
    case modify(@Sendable (URLSessionTask, URLRequest, HTTPURLResponse) async -> URLRequest?)

    func next(_ task: URLSessionTask, _ proposed: URLRequest, _ response: HTTPURLResponse) async -> URLRequest? {
        switch self {
        case .follow: proposed
        case .doNotFollow: nil
        case .modify(let change): await change(task, proposed, response)
        }
    }
}
