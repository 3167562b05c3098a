internal import Foundation
internal import HTTP1
internal import HTTPSemantics

/// Redirects: what the rules make of an answer, and what the user makes of that.
extension TaskLoad {
    /// True if the answer sends its request elsewhere, and that is being dealt with.
    func isRedirect(_ response: HTTPURLResponse) -> Bool {
        guard response.statusCode >= 301, response.statusCode < 400, let url = request.url else { return false }
        let redirect = RedirectRule.follow(
            status: response.statusCode,
            fields: response.fields.list,
            method: request.values.httpMethod,
            url: WebURL(url),
            secrets: engine.settings.secrets,
            reading: WebURL.read
        )
        guard let redirect, let target = redirect.url.url else { return false }
        var next = URLRequest(storage: RequestStorage(request.values))
        next.url = target
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent {
            next.httpBody = nil
            dropsContent = true
        }
        redirected(by: response, to: next)
        return true
    }

    /// Asks the user whether to go on with `next`; without anybody to ask, the rules' word is enough. So it is in a background session, as on
    /// Apple's platforms: the next process may have nobody to ask.
    func redirected(by response: HTTPURLResponse, to next: URLRequest) {
        guard redirects < RedirectRule.limit else { return endRedirects() }
        ask(background == nil ? .redirect : nil, otherwise: Optional(next)) { session, task, delegate, answer in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer.give($0)
            }
        } _: { [self] answer, held in
            guard let answer else {
                dropsContent = false
                return deliver(response, held)
            }
            goOn(with: answer, after: held)
        }
    }

    func goOn(with next: URLRequest, after held: Held) {
        guard redirects < RedirectRule.limit else { return endRedirects() }
        redirects += 1
        if let from = request.url, let url = next.url, WebOrigin(from) != WebOrigin(url) { isAmongStrangers = true }
        if dropsContent { sendsContent = bringsContent(next) }
        task.currentRequest = next
        challenges = ChallengeProgress()
        follow(next, after: held)
    }

    /// Content that the user has put into the request he goes on with.
    private func bringsContent(_ request: URLRequest) -> Bool {
        guard case .request = order.content else { return false }
        if case .none = request.values.body { return false }
        return true
    }

    private func endRedirects() {
        let reason = "more than \(RedirectRule.limit) redirects"
        end(ErrorTranslation.urlError(.httpTooManyRedirects, request.url, reason))
    }
}
