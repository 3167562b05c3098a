internal import Foundation

/// Redirects: what the rules make of an answer, and what the user makes of that.
extension TaskLoad {
    /// Asks the user whether to go on with `next`; without anybody to ask, the rules' word is enough.
    func redirected(by response: HTTPURLResponse, to next: URLRequest) {
        ask(otherwise: Optional(next)) { session, task, delegate, answer in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer.give($0)
            }
        } _: { [self] answer, held in
            guard let answer else { return deliver(response, held) }
            redirects += 1
            task.currentRequest = answer
            follow(answer, after: held)
        }
    }
}
