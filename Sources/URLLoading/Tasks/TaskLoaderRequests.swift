internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// How each request of a task begins, and what is done about its answers.
extension TaskLoader {
    /// Begins with what an earlier task has left on disk, once that is known to be what was written: it is read off the loop.
    func startFromDisk(_ request: URLRequest) {
        guard let resumption = attempt.resumption, resumption.isUnread(isSummed: isInBackground) else {
            return start(request)
        }
        offLoop {
            resumption.read
        } _: { [self] read in
            // What is of no use goes.
            let usable = read ?? nil
            if usable == nil { WritableFile.remove(resumption.path) }
            attempt.resume(from: usable)
            start(request)
        }
    }

    /// Begins with the order's content, or goes on with another request.
    func start(_ request: URLRequest) {
        attempt.replaceRequest(by: prepared(request))
        let loading: Attempt.Loading
        do throws(URLError) {
            loading = try attempt.loadContent(spec.content)
        } catch {
            return end(error)
        }
        switch loading {
        case .ready: transact()
        case .asksForStream: askForStream()
        case .usedUp: end(ErrorTranslation.urlError(.requestBodyStreamExhausted, url, ContentUsedUp()))
        }
    }

    /// Content that is coded on its way cannot be gone on from: lengths are then those of the coded form.
    private func prepared(_ request: URLRequest) -> URLRequest {
        guard isInBackground, task is URLSessionDownloadTask, !request.decidesOnCoding else { return request }
        var request = request
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    func transact() {
        guard !course.isSuspended else {
            course.start()
            return whenRunning { [self] in transact() }
        }
        let length = attempt.content.length
        task.snapshot.withLock { $0.counts.expectedToSend = length }
        attempt.sent = 0
        if let load = ProtocolLoad.make(
            for: self,
            attempt.content,
            spec.content,
            looksIntoCache: { attempt.cacheMode(settings).looksIntoCache }
        ) {
            course.load(from: .classLoad(load))
            return load.begin()
        }
        loadItself()
    }

    /// By this module: from here, from the cache, or over the network.
    func loadItself() {
        if isSocket { return beginSocket() }
        guard let url = attempt.request.url else { return end(.badURL, nil, "the request has no URL") }
        switch url.scheme {
        case "http", "https": lookIntoCache(url)
        case "data", "file": load(from: LocalLoad(url, self))
        case let scheme?:
            if scheme != scheme.lowercased(), let other = URLText.withLowercaseScheme(url) {
                attempt.request.url = other
                return loadItself()
            }
            end(.unsupportedURL, url, "no URLs of the scheme “\(scheme)” are loaded")
        case nil: end(.unsupportedURL, url, "the URL has no scheme")
        }
    }

    func load(from local: LocalLoad) {
        course.load(from: .local(local))
        local.begin()
    }

    private func lookIntoCache(_ url: URL) {
        attempt.storing = nil
        guard let cache = settings.cache, spec.resumption == nil else { return decide(nil, url) }
        let request = attempt.request
        switch cache.find(request) {
        case .nothing: decide(nil, url)
        case .response(let found): decide(found, url)
        // Without a thread to read on, the network knows as well.
        case .onDisk(let key):
            offLoop {
                cache.load(key, request)
            } _: { [self] in
                decide($0 ?? nil, url)
            }
        }
    }

    private func decide(_ found: CachedURLResponse?, _ url: URL) {
        let mode = attempt.cacheMode(settings)
        attempt.stored = found
        guard found != nil || mode != .standard || attempt.isCacheControlled(settings) else {
            attempt.machine.beginUncached()
            return exchange(url)
        }
        let fields = attempt.fields(for: found, url, engine)
        let method = attempt.request.values.httpMethod
        perform(
            attempt.machine.begin(
                method: method,
                fields: fields,
                mode: mode,
                stored: found?.exchange,
                now: Transaction.now
            ),
            nil,
            .nothing
        )
    }

    /// - Parameter conditions: fields that make the request conditional, for the cache.
    func exchange(_ url: URL, _ conditions: [(name: String, value: String)] = []) {
        let network = engine.engine
        do throws(URLError) {
            let (plan, authorization) = try attempt.plan(url, conditions, spec, engine)
            attempt.transaction = Transaction(plan: plan, sent: Transaction.now, authorized: authorization)
            // As the engine counts it: 0.5, the default, is its usual one.
            let priority = UInt8(clamping: Int(task.snapshot.withLock { $0.priority } * 256))
            let id = network.start(plan.request, delegate: self, priority: priority)
            // Content in memory may leave within that call, and be told; nothing else is before it has returned.
            switch course.phase {
            case .new, .starting, .asking: course.load(from: .exchange(id))
            case .loading, .draining, .ended: network.cancel(id)
            }
        } catch {
            end(error)
        }
    }

    // MARK: Steps

    /// Does what the attempt's machine says.
    ///
    /// - Parameters:
    ///   - response: the head that it is about; nil without one.
    ///   - held: what stands still already; nil: the source delivers.
    func perform(_ step: Step, _ response: HTTPURLResponse?, _ held: Held?) {
        switch step {
        case .askForCredentials(let question, let failures): askForCredentials(question, failures, response)
        case .proposeRedirect(let redirect): propose(redirect, response)
        case .deliver(let placement, let storage):
            guard let response else { return }
            guard let held else { return place(response, placement, storage) }
            deliver(response, held)
        case .fail(let reason): fail(reason)
        case .askForStream: askForStream()
        case .waitForConnectivity(let pause, let isFirst): waitForConnectivity(pause, isFirst)
        case .beginAnew(let pause): beginAnew(after: pause)
        case .requestWhole:
            if let path = attempt.resumption?.path { WritableFile.remove(path) }
            abandon(course.held)
            start(attempt.request)
        case .send, .serveStored, .serveUpdated, .discardStored, .answerGatewayTimeout, .sendAgain:
            guard let held else { return pause { [self] in perform(step, response, $0) } }
            goOn(with: step, held)
        }
    }

    /// The steps that need no user.
    func goOn(with step: Step, _ held: Held) {
        guard let url = attempt.transaction?.url ?? attempt.request.url else { return }
        switch step {
        case .send(let fields): exchange(attempt.request.url ?? url, fields)
        case .serveStored(let age, let refresh):
            guard let found = attempt.stored else { return exchange(url) }
            // Not waited for: a server in trouble may never send the rest.
            abandon(held)
            serve(found, age: age ?? found.age)
            if let refresh { attempt.refresh(found, url, refresh, engine) }
        case .serveUpdated(let fresh):
            settle(held) { [self] in whenRunning { [self] in serve(updated: fresh, url) } }
        case .discardStored:
            settle(held) { [self] in
                whenRunning { [self] in
                    settings.cache?.discard(CacheKey(method: "GET", url: url))
                    exchange(url)
                }
            }
        case .answerGatewayTimeout:
            let response = HTTPURLResponse(url: url, statusCode: 504, httpVersion: "HTTP/1.1", headerFields: nil)
            guard let response else { return }
            load(from: LocalLoad(response, Data(), self))
        case .sendAgain:
            let request = attempt.request
            settle(held) { [self] in start(request) }
        case .askForCredentials, .proposeRedirect, .requestWhole, .askForStream, .waitForConnectivity, .beginAnew,
            .deliver, .fail:
            break
        }
    }

    private func serve(_ found: CachedURLResponse, age: Int64) {
        let response = found.served(age: age)
        record?.note(attempt.request, stored: response, found.data.count)
        load(from: LocalLoad(response, found.data, self))
    }

    private func serve(updated fresh: StoredExchange, _ url: URL) {
        guard let stored = attempt.stored else { return exchange(url) }
        let cached = stored.updated(fresh)
        settings.cache?.keep(cached, for: CacheKey(method: "GET", url: url))
        serve(cached, age: cached.age)
    }

    func fail(_ reason: Step.Reason) {
        let url = attempt.request.url
        switch reason {
        case .tooManyRedirects: end(.httpTooManyRedirects, url, "more than \(RedirectRule.limit) redirects")
        case .nothingStored:
            end(.resourceUnavailable, url, "nothing is cached for this request, and only the cache was to be asked")
        case .refusedByProxy:
            let reason = "the proxy asks for credentials, and there are none that it takes"
            end(.userAuthenticationRequired, url, reason)
        case .failure: end(.unknown, url, "the request failed")
        }
    }

    // MARK: Failure

    func failed(_ error: EngineError, _ report: ExchangeReport) {
        // An answer that has been told cannot be told again; nor is content sent twice that the server has answered.
        let mayRepeat = background?.record(of: task) != nil && !(task is URLSessionUploadTask && task.response != nil)
        let failure = AnswerFailure(error, report, attempt, engine.proxies, mayRepeat: mayRepeat)
        let step = attempt.machine.fail(failure)
        if case .fail(.failure) = step { return end(ErrorTranslation.error(error, attempt.request.url)) }
        course.start()
        perform(step, nil, .nothing)
    }

    private func waitForConnectivity(_ pause: Duration, _ isFirst: Bool) {
        if isFirst {
            tell(.connectivity) { session, task, delegate in
                delegate.urlSession(session, taskIsWaitingForConnectivity: task)
            }
        }
        // Nothing of its content has been read: a stream serves once more.
        start(after: pause) { $0.transact() }
    }

    /// Tries again instead of failing: with the bytes that there are, if the server lets it.
    private func beginAnew(after pause: Duration) {
        guard let request = spec.request else { return }
        attempt = Attempt(anewAfter: attempt, request, resuming: resumptionOfNext(request))
        task.snapshot.withLock { $0.response = nil }
        start(after: pause) { $0.startFromDisk(request) }
    }

    private func resumptionOfNext(_ request: URLRequest) -> ResumeData? {
        guard case .file(let file) = delivery.sink, let url = request.url else { return attempt.resumption }
        _ = delivery.takeSink()
        let data = attempt.resumeData(file, at: file.url.path, fields: [:], url: url)
        file.finish(keeping: data != nil)
        return data?.askable
    }

    func start(after pause: Duration, _ next: @escaping (TaskLoader) -> Void) {
        let timer = engine.loop.arm(
            at: engine.loop.now.advanced(by: pause),
            Alarm { [weak self] in
                guard let self, course.isStarting else { return }
                course.start()
                next(self)
            }
        )
        course.start(after: timer)
    }
}
