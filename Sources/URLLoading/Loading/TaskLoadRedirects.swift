internal import Foundation
internal import HTTP1

/// Redirects: what the rules make of an answer, and what the user makes of that.
extension TaskLoad {
    /// True if the answer sends its request elsewhere, and that is being dealt with.
    func isRedirect(_ response: HTTPURLResponse) -> Bool {
        guard response.statusCode >= 301, response.statusCode < 400, let url = request.url else { return false }
        let redirect = RedirectRule.follow(
            status: response.statusCode,
            fields: response.fields.list,
            method: request.values.httpMethod,
            url: url
        )
        guard let redirect else { return false }
        chain.note(method: request.values.httpMethod, url: url, cookies: nil)
        var next = URLRequest(storage: RequestStorage(request.values))
        next.url = redirect.url
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent {
            next.httpBody = nil
            dropsContent = true
        }
        redirected(by: response, to: next)
        return true
    }

    /// Asks the user whether to go on with `next`; without anybody to ask, the rules' word is enough.
    func redirected(by response: HTTPURLResponse, to next: URLRequest) {
        ask(.redirect, otherwise: Optional(next)) { session, task, delegate, answer in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer.give($0)
            }
        } _: { [self] answer, held in
            guard let answer else {
                dropsContent = false
                return deliver(response, held)
            }
            redirects += 1
            guard let url = answer.url, followsOn(answer, url) else {
                let reason = "\(RedirectChain.limit) redirects, or a circle of them"
                return end(ErrorTranslation.urlError(.httpTooManyRedirects, request.url, reason))
            }
            if dropsContent { sendsContent = false }
            task.currentRequest = answer
            challenges = ChallengeProgress()
            follow(answer, after: held)
        }
    }

    private func followsOn(_ next: URLRequest, _ url: URL) -> Bool {
        let cookies = (try? URLText.http(url)).flatMap {
            engine.settings.cookies?.cookieHeader(for: CookieScope($0), mainDocumentURL: nil)
        }
        return chain.follow(method: next.values.httpMethod, url: url, cookies: cookies)
    }
}
