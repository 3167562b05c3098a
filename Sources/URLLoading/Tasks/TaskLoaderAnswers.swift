internal import Dispatch
internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// The answer: its head, its content, its end. Sources of every kind come together here.
extension TaskLoader {
    /// A head has come; what it asks for is dealt with before the user sees it as the answer.
    func received(_ response: URLResponse, from source: Source) {
        attempt.response = response
        switch source {
        case .exchange: if let http = response as? HTTPURLResponse { return judge(http) }
        case .classLoad(let load):
            attempt.storing = nil
            if let cache = settings.cache, load.storagePolicy != .notAllowed, delivery.isStorable {
                attempt.storing = CacheEntry(ofClass: load.storagePolicy, limit: cache.contentLimit)
            }
        case .local, .socket, .stream: break
        }
        accept(response)
    }

    /// Has the machine judge a head from the network.
    private func judge(_ response: HTTPURLResponse) {
        guard let transaction = attempt.transaction else { return accept(response) }
        engine.keepCookies(of: response, for: attempt)
        let caching: AskedRequest.Caching = settings.cache == nil ? .none : delivery.isStorable ? .stores : .compares
        let asked = attempt.asked(transaction, caching)
        let head = AnswerHead(
            status: response.statusCode,
            fields: response.fields.list,
            // Read where it is looked at: where a download goes on.
            length: attempt.resumption == nil ? -1 : response.expectedContentLength
        )
        let verdict = attempt.machine.receive(
            head,
            to: asked,
            at: Transaction.now,
            url: WebURL(transaction.url),
            memory: &engine.authorizations
        )
        if let space = verdict.accepted { store(for: space) }
        for url in verdict.invalidated { settings.cache?.discard(CacheKey(method: "GET", url: url.text)) }
        perform(verdict.step, response, nil)
    }

    /// The server has taken the user's name and password: they are stored.
    func store(for space: ProtectionSpace) {
        if let credential = attempt.acceptedCredential(for: space) { engine.store(credential, for: space) }
    }

    /// The response from the network is the answer.
    func place(_ response: HTTPURLResponse, _ placement: Step.Placement, _ storage: Step.Storage) {
        switch storage {
        case .none: break
        case .compare: attempt.compareHead(response, engine)
        case .store(let permitted):
            if let limit = settings.cache?.contentLimit, response.expectedContentLength <= limit {
                attempt.storing = CacheEntry(permitted, received: Transaction.now, limit: limit)
            }
        }
        switch placement {
        case .whole: break
        case .wholeInsteadOfRest: if let path = attempt.resumption?.path { WritableFile.remove(path) }
        case .rest(let total):
            guard let resumption = attempt.resumption else { break }
            do throws(Errno) {
                let file = try DownloadFile(resumption, total: total, for: attempt.request.url)
                if isInBackground { file.beginLedger(at: engine.loop.now) }
                attempt.resumed = file
            } catch {
                // It is gone, or shorter than it was: the rest alone is nothing.
                return perform(attempt.machine.restIsGone(), nil, nil)
            }
        }
        accept(response)
    }

    /// The response is the answer after all, though it asked for something else.
    func deliver(_ response: URLResponse, _ held: Held) {
        if case .source(let source) = held { course.load(from: source) }
        let before = course.questions
        accept(response)
        switch held {
        case .nothing: break
        case .source: updateFlow()
        case .complete: if course.questions == before { end(nil) }
        }
    }

    /// The response is the answer.
    func accept(_ response: URLResponse) {
        let beginning = delivery.begin()
        let expected = response.expectedContentLength
        _ = task.count(with: response) { counts in
            counts.expectedToReceive = expected
            // A download that is tried again begins anew, unless it goes on: then that is told.
            counts.received = 0
        }
        if isSocket { return refuseSocket(response) }
        switch beginning {
        case .memory:
            guard expected <= delivery.limit else { return endTooLong() }
            delivery.deliver(to: .memory(Data()))
        case .file: return beginFile()
        case .bytes(let channel):
            delivery.deliver(to: .bytes(channel))
            channel.received(response, self)
        case .delegate:
            delivery.deliver(to: .delegate)
            background?.note(task, response as? HTTPURLResponse, part: nil)
        }
        if delivery.asksForDisposition { askForDisposition(response) }
    }

    private func endTooLong() {
        let reason = "the answer is longer than the \(delivery.limit) bytes that are kept in memory of one"
        end(.dataLengthExceedsMaximum, attempt.request.url, reason)
    }

    func beginFile() {
        if let resumed = attempt.resumed {
            delivery.deliver(to: .file(resumed))
            return delivery.tellResumption(resumed, by: queue)
        }
        do throws(URLError) {
            delivery.deliver(to: .file(try makeFile()))
        } catch {
            end(error)
        }
    }

    /// In a background session, a file in the session's folder, known to the record before the process can end.
    private func makeFile() throws(URLError) -> DownloadFile {
        let path = background?.freshPart(of: task)
        let file = try DownloadFile(for: attempt.request.url, at: path, makingRoom: { engine.engine.makeRoom() })
        file.total = attempt.response?.expectedContentLength ?? -1
        guard let background, let path else { return file }
        file.beginLedger(at: engine.loop.now)
        let part = BackgroundRecord.Part(
            path: path,
            validator: attempt.validator,
            expected: file.total,
            boot: BackgroundFolder.boot
        )
        background.note(task, attempt.response as? HTTPURLResponse, part: part)
        return file
    }

    /// Content, decoded; the span is the loop's.
    func receive(_ bytes: Span<UInt8>) {
        let length = Int64(bytes.count)
        let counts = task.count { $0.received += length }
        switch delivery.sink {
        case .stream(let stream): return stream.receive(bytes)
        case .bytes(let channel):
            if !channel.append(bytes) { fallBehind() }
            return
        case .none, .memory, .delegate, .file: break
        }
        let (background, task) = (background, task)
        let reception = delivery.receive(
            bytes,
            counts,
            ledgerTime: background == nil ? nil : engine.loop.now,
            by: queue,
            seeing: { data in
                attempt.storing?.append(data)
                background?.note(task, content: data)
            }
        )
        switch reception {
        case .taken: break
        case .isBehind: updateFlow()
        case .isTooLong: endTooLong()
        case .failed(let error): end(error)
        }
    }

    /// The whole of the answer is there.
    func finished() {
        if !course.completeBehindQuestion() { complete() }
    }

    /// All of the answer is there, and no question is open: the end, but for a reader at a pace of its own, and for what is stored.
    func complete() {
        if case .stream(let stream) = delivery.sink {
            course.load(from: .stream(stream))
            return stream.answerEnded()
        }
        delivery.tellGathered(by: queue)
        guard let cache = settings.cache, let (cached, key) = attempt.takeEntry(delivery.sink, engine) else {
            return end(nil)
        }
        let dataTask = task as? URLSessionDataTask
        guard let dataTask, delivery.isAskedAboutCaching else {
            cache.keep(cached, for: key, by: dataTask)
            return end(nil)
        }
        ask(.caching, otherwise: cached, UserQuestion.caching(of: dataTask, cached)) { [self] answer, _ in
            if let answer { cache.keep(cached.record.map(answer.with) ?? answer, for: key, by: dataTask) }
            end(nil)
        }
    }
}

/// What the engine tells of the exchange under way.
extension TaskLoader: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        let request = attempt.request
        guard let url = request.url else { return }
        guard head.status >= 200 else { return informed(head, url) }
        let isDecoded =
            head.contains(.contentEncoding) && !request.decidesOnCoding && !settings.fields.contains("Accept-Encoding")
        received(HTTPURLResponse(url: url, head: head, isDecoded: isDecoded), from: .exchange(id))
    }

    private func informed(_ head: ResponseHead, _ url: URL) {
        if head.status == 101 { attempt.switching = head }
        // 100 and 101 concern the connection.
        guard head.status > 101 else { return }
        let hasRoom = delivery.tellInformational({ HTTPURLResponse(url: url, head: head) }, by: queue)
        if !hasRoom { fallBehind() }
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        switch course.phase {
        case .draining(var drain) where drain.exchange == id:
            let goesOn = drain.read(bytes.count)
            course.drain(drain)
            if !goesOn { engine.engine.cancel(id) }
        case .loading, .asking: receive(bytes)
        case .new, .starting, .draining, .ended: break
        }
    }

    func exchange(_ id: ExchangeID, didSend count: Int) {
        let length = attempt.content.length
        // Of a request that the engine has sent twice, what had left the first time counts once.
        attempt.sent = length >= 0 ? min(attempt.sent + Int64(count), length) : attempt.sent + Int64(count)
        let sent = attempt.sent
        let counts = task.count { $0.sent = sent }
        _ = delivery.tellSent(count, counts, by: queue)
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { attempt.content.part(at: offset) }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        guard case .exchange(id) = course.source else { return connection.close() }
        guard let task = task as? URLSessionWebSocketTask else { return switched(to: connection) }
        openSocket(connection, task)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        record?.note(attempt.request, report, attempt.response)
        if case .draining(let drain) = course.phase, drain.exchange == id {
            engine.loop.cancel(drain.timer)
            abandon(.nothing)
            return drain.next()
        }
        guard course.isCurrent(id) else { return }
        switch outcome {
        case .completed: finished()
        case .failed(let error): failed(error, report)
        }
    }
}
