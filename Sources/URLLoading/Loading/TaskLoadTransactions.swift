internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// How each transaction begins: by a class of the user's, from here, or over the network.
extension TaskLoad {
    /// Begins with the order's content, or begins anew with another request.
    func start(_ request: URLRequest) {
        self.request = request
        do throws(URLError) {
            content = try UploadContent(order.content, request)
        } catch {
            return end(error)
        }
        if case .stream = order.content, content.isEmpty { return askForStream { [self] in transact() } }
        transact()
    }

    func transact() {
        if isSuspended {
            phase = .starting(nil)
            return whenRunning { [self] in transact() }
        }
        let length = content.length
        task.snapshot.withLock { $0.counts.expectedToSend = length }
        if let load = ProtocolLoad(for: self) {
            phase = .loading(.classLoad(load))
            return load.begin()
        }
        loadItself()
    }

    /// By this module: over the network, or from here.
    func loadItself() {
        guard let url = request.url else {
            return end(ErrorTranslation.urlError(.badURL, nil, "the request has no URL"))
        }
        switch url.scheme?.lowercased() {
        case "http", "https": exchange(url)
        case "data", "file":
            let load = LocalLoad(url, self)
            phase = .loading(.local(load))
            load.begin()
        case let scheme:
            end(
                ErrorTranslation.urlError(
                    .unsupportedURL,
                    url,
                    scheme.map { "nobody loads URLs of the scheme “\($0)”" } ?? "the URL has no scheme"
                )
            )
        }
    }

    private func exchange(_ url: URL) {
        let network = engine.engine
        if let failure = engine.tlsFailure, url.scheme?.lowercased() == "https" {
            return end(ErrorTranslation.error(.tls(failure), url))
        }
        do throws(URLError) {
            let plan = try plan(url)
            let id = network.start(plan, delegate: self)
            // Content in memory may leave, and even an answer come, within that call; its end comes later.
            switch phase {
            case .new, .starting: phase = .loading(.exchange(id))
            case .loading, .asking, .draining, .ended: network.cancel(id)
            }
        } catch {
            end(error)
        }
    }

    private func plan(_ url: URL) throws(URLError) -> EngineRequest {
        let extra = transactionFields(url)
        if extra.isEmpty, let last = engine.lastPlan, last.serves(request, url) { return last.request }
        var builder = RequestBuilder(settings: engine.settings, request: request, url: url, content: content)
        builder.extra = extra
        let made = try builder.build()
        if extra.isEmpty, case .none = content { engine.lastPlan = RequestPlan(made, 0, for: request, url) }
        return made
    }

    /// Cookies, what an authentication says, and what makes the request conditional.
    private func transactionFields(_ url: URL) -> [(name: String, value: String)] {
        resumptionFields()
    }

    /// A redirect or a challenge: the rest of this answer is read if it is short, so that its connection serves the next.
    func follow(_ next: URLRequest, after held: Held) {
        switch held {
        case .source(.exchange(let id)):
            phase = .draining(id, left: TaskLoad.longestDrain, then: next)
            engine.engine.resume(id)
        case .source(let source):
            drop(source)
            phase = .starting(nil)
            start(next)
        case .nothing, .complete:
            phase = .starting(nil)
            start(next)
        }
    }

    /// More than a redirect's page needs; reading on costs less than a new connection up to about here.
    private static let longestDrain = 64 << 10
}
