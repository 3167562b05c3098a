internal import Synchronization
internal import Uncurl

/// A source of answers that replaces the network.
protocol TestKitSource: Sendable {
    var clock: any Clock<Duration> { get }
    func takes(_ request: URLRequest) -> Bool
    func steps(for request: StubbedRequest) async -> [StubResponse.Step]
}

/// The loading class that takes answers from the source of its session's configuration. All configurations share the
/// class; each has its own source.
final class TestKitProtocol: URLProtocol {
    /// `@unchecked`: the methods of an instance are called one after the other. After that, its Swift task uses only
    /// its request, which does not change, and its client, which any thread may use.
    private struct Loading: @unchecked Sendable {
        let instance: TestKitProtocol
    }

    private let loading = Mutex<Task<Void, Never>?>(nil)

    static func install(_ source: any TestKitSource, in configuration: URLSessionConfiguration) {
        configuration.protocolContext = source
        let others = (configuration.protocolClasses ?? []).filter { $0 != TestKitProtocol.self }
        configuration.protocolClasses = [TestKitProtocol.self] + others
    }

    private static func source(of task: URLSessionTask?) -> (any TestKitSource)? {
        task?.protocolContext as? any TestKitSource
    }

    override class func canInit(with task: URLSessionTask) -> Bool {
        guard let source = source(of: task), let request = task.currentRequest else { return false }
        return source.takes(task.addingCookies(to: request))
    }

    override func startLoading() {
        guard let task, let source = Self.source(of: task), let client else { return }
        let asked: StubbedRequest
        do {
            asked = StubbedRequest(task.addingCookies(to: request), body: try request.readContent())
        } catch {
            return client.urlProtocol(self, didFailWithError: error)
        }
        let me = Loading(instance: self)
        let playing = Task {
            await me.instance.play(await source.steps(for: asked), source.clock, task, client)
        }
        loading.withLock { $0 = playing }
    }

    override func stopLoading() { loading.withLock { $0 }?.cancel() }

    private func play(
        _ steps: [StubResponse.Step],
        _ clock: any Clock<Duration>,
        _ task: URLSessionTask,
        _ client: any URLProtocolClient
    ) async {
        for step in steps {
            switch step {
            case .wait(let span):
                if span > .zero {
                    do { try await clock.sleep(for: span.bounded) } catch { return }
                }
            case .head(let status, let headers):
                guard let response = response(status, headers) else {
                    let words = "A stub cannot have the status \(status)."
                    let error = URLError(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: words])
                    return client.urlProtocol(self, didFailWithError: error)
                }
                task.keepCookies(of: response, to: request)
                if let next = task.request(following: response, to: request) {
                    return client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
                }
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .allowed)
            case .data(let data): client.urlProtocol(self, didLoad: data)
            case .fail(let error): return client.urlProtocol(self, didFailWithError: error)
            case .hang: return
            }
            if Task.isCancelled { return }
        }
        client.urlProtocolDidFinishLoading(self)
    }

    private func response(_ status: Int, _ headers: [String: String]) -> HTTPURLResponse? {
        guard let url = request.url else { return nil }
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
    }
}
