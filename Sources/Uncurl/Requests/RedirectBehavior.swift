public import URLLoading

/// What happens to an answer that redirects.
@frozen public enum RedirectBehavior: Sendable {
    /// Redirects are followed by the rules of RFC 9110 §15.4. Credentials do not cross to another origin.
    case follow
    /// The redirect itself is the answer. Its status is acceptable where 200 to 299 are, unless
    /// ``RequestOptions/validation`` says otherwise.
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

extension RequestOptions {
    private static let successesAndRedirects = Set(200..<400)

    /// What is acceptable as the answer: what the request says, or else the usual, with the redirects that are not
    /// followed.
    ///
    /// - Parameter managed: the manager's redirects, where the request has none of its own.
    func validation(else usual: ResponseValidation, _ managed: RedirectBehavior?) -> ResponseValidation {
        if let validation { return validation }
        guard case .doNotFollow? = redirects ?? managed, usual.statusCodes == ResponseValidation.successes else {
            return usual
        }
        var validation = usual
        validation.statusCodes = RequestOptions.successesAndRedirects
        return validation
    }
}
