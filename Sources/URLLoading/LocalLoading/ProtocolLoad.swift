internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor

/// A load by one of the program's `URLProtocol` classes. The class runs on a queue of its own; what it reports comes to
/// the loop, and waits there while the task is held.
final class ProtocolLoad: AnswerSource, @unchecked Sendable {
    // `@unchecked`: all but `queue`, `instance` and what a lock guards is used on the loop alone; `instance` on the
    // queue alone.

    /// What a report of the class does, on the loop.
    private typealias Report = @Sendable (ProtocolLoad) -> Void

    /// The delegate. It may be gone once the load is stopped; what a class reports after that is ignored.
    private unowned let delegate: any LoadDelegate
    private let loop: EventLoop
    private let classes: [URLProtocol.Type]
    private let task: URLSessionTask
    private let request: URLRequest
    private let hasLeftOrigin: Bool
    /// The request without the session's fields and the task's content.
    private let plain: URLRequest
    /// The cache; nil if the request's policy does not use it.
    private let cache: URLCache?
    private let settings: SessionSettings
    private let queue = DispatchQueue(label: "URLLoading.URLProtocol")
    private var instance: URLProtocol?
    private var reports: [Report] = []
    /// How many of ``reports`` have been handled: a class may report many while its task is held.
    private var delivered = 0
    /// Whether the class has reported a head. Content that comes before is kept in ``early``.
    private var hasHead = false
    private var early = Data()
    private var isHeld = false
    private var isStopped = false
    /// How long the class may report nothing at all, by the request's time limit.
    private let limit: Duration?
    /// When the class last reported something. While the task is held, the time stops.
    private var lastHeard: Instant
    private var timer: TimerID?

    /// Makes a load; nil if there are no classes to ask. That is the usual case, in which nothing is allocated.
    ///
    /// - Parameters:
    ///   - content: the content that the request carries.
    ///   - source: the source of the task's content.
    ///   - hasLeftOrigin: whether a redirect has led to another origin, which gets no secrets of the session.
    static func make(
        for delegate: any LoadDelegate,
        _ request: URLRequest,
        _ content: UploadContent,
        _ source: ContentSource,
        _ engine: SessionEngine,
        hasLeftOrigin: Bool,
        looksIntoCache: () -> Bool
    ) -> ProtocolLoad? {
        // A background task may continue in a process that has other classes.
        guard engine.background == nil else { return nil }
        let own = engine.settings.protocolClasses
        guard !own.isEmpty || URLProtocol.hasRegisteredClasses else { return nil }
        let cache = looksIntoCache() ? engine.settings.cache : nil
        let classes = own + URLProtocol.registeredClasses
        return ProtocolLoad(for: delegate, classes, request, content, source, engine, cache, hasLeftOrigin)
    }

    private init(
        for delegate: any LoadDelegate,
        _ classes: [URLProtocol.Type],
        _ plain: URLRequest,
        _ content: UploadContent,
        _ source: ContentSource,
        _ engine: SessionEngine,
        _ cache: URLCache?,
        _ hasLeftOrigin: Bool
    ) {
        self.classes = classes
        self.delegate = delegate
        loop = engine.loop
        task = delegate.task
        settings = engine.settings
        self.cache = cache
        self.plain = plain
        self.hasLeftOrigin = hasLeftOrigin
        limit = Duration.limit(plain.values.explicitTimeout ?? settings.requestTimeout)
        lastHeard = loop.now
        var request = plain
        request.values.replaceFields(settings.client.fields(with: request.values.fields, hasLeftOrigin: hasLeftOrigin))
        // A class knows a task's content only from its request. After a redirect that made the request a GET there is
        // no content.
        switch content {
        case .none: break
        case .data(let data): request.httpBody = data
        case .stream(let stream, _): if let unread = stream.unread { request.httpBodyStream = unread }
        case .body(let content):
            if case .file(let file) = source {
                request.httpBodyStream = InputStream(url: file)
            } else if let octets = content.octets {
                // Files and streams are not read, however short they are.
                request.httpBody = Data(octets)
            } else {
                request.content = content
            }
        }
        self.request = request
    }

    // MARK: On the loop

    /// Asks the classes. If none takes the request, the network loads it.
    func begin() {
        watch()
        task.currentRequest = request
        queue.async { [self] in
            guard let taker = classes.first(where: { $0.canInit(with: task) }) else {
                return onLoop { load in
                    load.task.currentRequest = load.plain
                    load.delegate.loadItself(load)
                }
            }
            let client = ProtocolClient { [weak self] report in self?.take(report) }
            let canonical = taker.canonicalRequest(for: request)
            task.currentRequest = canonical
            let cached = cache?.cachedResponse(for: canonical).flatMap { found in
                let fields = settings.client.fields(with: canonical.values.fields, hasLeftOrigin: hasLeftOrigin)
                return found.isFor(fields, settings.client.vary) ? found : nil
            }
            let instance = taker.init(task: task, cachedResponse: cached, client: client)
            instance.task = task
            if isOver.withLock({ $0 }) { return }
            self.instance = instance
            instance.startLoading()
        }
    }

    /// Runs `call` where the class runs, after earlier calls.
    func onClassQueue(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }

    func hold(reading isHeld: Bool, sending: Bool) {
        self.isHeld = isHeld
        guard !isHeld else { return }
        lastHeard = loop.now
        deliver()
    }

    private func watch() {
        guard let limit else { return }
        timer = loop.arm(
            at: lastHeard.advanced(by: limit),
            TimerCall { [weak self] in
                self?.lookForSilence(limit)
            }
        )
    }

    private func lookForSilence(_ limit: Duration) {
        timer = nil
        if isHeld { lastHeard = loop.now }
        guard lastHeard.advanced(by: limit) <= loop.now else { return watch() }
        delegate.end(URLError(EngineError.timedOut(.idle), request.url))
    }

    /// Stops the load: later reports are ignored, and the class is told to stop.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        if let timer { loop.cancel(timer) }
        timer = nil
        (reports, delivered) = ([], 0)
        isOver.withLock { $0 = true }
        queue.async { [self] in
            instance?.stopLoading()
            instance = nil
        }
    }

    private func deliver() {
        while !isHeld, !isStopped, delivered < reports.count {
            let report = reports[delivered]
            delivered += 1
            if delivered == reports.count { (reports, delivered) = ([], 0) }
            report(self)
        }
    }

    private func received(_ data: Data) {
        if !hasHead { early.append(data) } else if !data.isEmpty { delegate.receive(Array(data).span) }
    }

    private func finished() {
        if early.isEmpty { return delegate.classFinished(self) }
        // The class has reported content and no head.
        reports.insert({ $0.finished() }, at: delivered)
        takeHead()
        delegate.received(plainResponse, .notAllowed)
    }

    private func received(_ cached: CachedURLResponse) {
        hasHead = true
        delegate.received(cached.response, .notAllowed)
        if !isStopped { (reports, delivered) = ([{ $0.received(cached.data) }, { $0.finished() }], 0) }
    }

    /// Notes that a head has come: content that came before it is delivered next.
    private func takeHead() {
        hasHead = true
        if !early.isEmpty { reports.insert({ [early] in $0.received(early) }, at: delivered) }
        early = Data()
    }

    /// The response to a class that reports none.
    private var plainResponse: URLResponse {
        let url = task.currentRequest?.url ?? request.url ?? URLRequest.nowhere
        return URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    // MARK: From the class, on any thread

    private let isOver = Mutex(false)

    private func take(_ report: @escaping Report) {
        onLoop { load in
            load.lastHeard = load.loop.now
            load.reports.append(report)
            load.deliver()
        }
    }

    private func onLoop(_ call: @escaping @Sendable (ProtocolLoad) -> Void) {
        loop.post {
            if !self.isStopped { call(self) }
        }
    }

    /// The client of a class. It passes its calls on to the loop.
    private final class ProtocolClient: NSObject, URLProtocolClient, @unchecked Sendable {
        // `@unchecked`: an `NSObject` with one immutable, sendable closure.
        private let tell: @Sendable (@escaping Report) -> Void

        init(_ tell: @escaping @Sendable (@escaping Report) -> Void) { self.tell = tell }

        func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
            tell { load in
                load.takeHead()
                load.delegate.classRedirected(to: request, redirectResponse, load)
            }
        }

        func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
            tell { $0.received(cachedResponse) }
        }

        func urlProtocol(
            _ protocol: URLProtocol,
            didReceive response: URLResponse,
            cacheStoragePolicy policy: URLCache.StoragePolicy
        ) {
            tell { load in
                load.takeHead()
                load.delegate.received(response, policy)
            }
        }

        func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { tell { $0.received(data) } }

        func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { tell { $0.finished() } }

        func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
            let failure = URLError.ofClass(error, `protocol`.request.url)
            tell { $0.delegate.end(failure) }
        }

        func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
            tell { load in
                load.delegate.classChallenged(challenge, load) { answer in
                    load.onClassQueue { challenge.sender?.pass(on: answer, to: challenge) }
                }
            }
        }

        func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
    }
}
