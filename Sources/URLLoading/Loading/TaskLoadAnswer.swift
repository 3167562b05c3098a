internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// The answer: its head, its content, its end. Sources of every kind come together here.
extension TaskLoad {
    /// A head has come; what it asks for is dealt with before the user sees it as the answer.
    func received(_ response: URLResponse, from source: Source) {
        self.response = response
        switch source {
        case .exchange: if let http = response as? HTTPURLResponse, isIntercepted(http, source) { return }
        case .classLoad(let load): noteForCache(load)
        case .local, .socket, .stream: break
        }
        accept(response)
    }

    /// Whether the answer is not the last one: it redirects, or asks who asks, or says that another is good.
    private func isIntercepted(_ response: HTTPURLResponse, _ source: Source) -> Bool {
        keepCookies(response)
        noteAuthorization(response)
        invalidateStored(by: response)
        if isCacheAnswer(response) || isChallenge(response) || isRedirect(response) { return true }
        noteForCache(response)
        return isResumption(response, source)
    }

    func keepCookies(_ response: HTTPURLResponse) {
        let settings = engine.settings
        guard let cookies = settings.cookies, let transaction, request.httpShouldHandleCookies else { return }
        let lines = response.fields.setCookieLines
        guard !lines.isEmpty else { return }
        cookies.store(
            setCookieLines: lines,
            from: transaction.plan.scope,
            mainDocumentURL: request.mainDocumentURL,
            policy: settings.cookiePolicy
        )
    }

    /// The response is the answer.
    func accept(_ response: URLResponse) {
        let expected = response.expectedContentLength
        gathered = task.prefersIncrementalDelivery ? nil : Data()
        let progress = task.snapshot.withLock { snapshot in
            snapshot.response = response
            snapshot.counts.expectedToReceive = expected
            // A download that is tried again begins anew, unless it goes on: then that is told.
            snapshot.counts.received = 0
            return snapshot.progress.map { ($0, snapshot.progressCounts) }
        }
        if let (progress, counts) = progress { counts.show(on: progress) }
        if isSocket { return refusedSocket(response) }
        switch order.reception {
        case .data, .awaitedData: beginData(expected)
        case .download, .awaitedFile: beginFile()
        case .bytes(let channel):
            sink = .bytes(channel)
            channel.received(response, self)
        case .delegate:
            if task is URLSessionDownloadTask { return beginFile() }
            sink = .delegate
            background?.note(task, response as? HTTPURLResponse, part: nil)
            askForDisposition(response)
        case .report(let terms):
            switch terms.keeping {
            case .memory: beginData(expected)
            case .file: return beginFile()
            case .nothing: sink = .delegate
            }
            if hasListener(for: .response) { askForDisposition(response) }
        }
    }

    /// The most that is kept in memory of an answer, in bytes.
    private var maximumDataLength: Int {
        max(0, order.request?.maximumDataLength ?? engine.settings.maximumDataLength)
    }

    private func beginData(_ expected: Int64) {
        if expected > maximumDataLength { return endTooLong() }
        sink = .memory(Data())
    }

    private func endTooLong() {
        let reason = "the answer is longer than the \(maximumDataLength) bytes that are kept in memory of one"
        end(ErrorTranslation.urlError(.dataLengthExceedsMaximum, request.url, reason))
    }

    /// The response is the answer after all, though it asked for something else.
    func deliver(_ response: URLResponse, _ held: Held) {
        switch held {
        case .nothing: accept(response)
        case .source(let source):
            phase = .loading(source)
            accept(response)
            updateFlow()
        case .complete:
            let before = questions
            accept(response)
            if questions == before { end(nil) }
        }
    }

    func beginFile() {
        // A class of the user's may tell of a second answer: what came of the first is nobody's.
        if case .file(let old) = sink { old.finish(keeping: false) }
        if let resumed {
            sink = .file(resumed)
            return tellResumption(resumed)
        }
        do throws(URLError) {
            sink = .file(try makeFile())
        } catch {
            end(error)
        }
    }

    /// Content, decoded; the span is the loop's.
    func receive(_ bytes: Span<UInt8>) {
        let count = bytes.count
        let (total, expected, progress) = task.snapshot.withLock { snapshot in
            snapshot.counts.received += Int64(count)
            let progress = snapshot.progress.map { ($0, snapshot.progressCounts) }
            return (snapshot.counts.received, snapshot.counts.expectedToReceive, progress)
        }
        if let (progress, counts) = progress { counts.show(on: progress) }
        switch sink {
        case .none: break
        case .memory(var data):
            // Out of the enum first, or it would be copied.
            sink = .none
            guard data.count + count <= maximumDataLength else { return endTooLong() }
            data.append(bytes, expecting: expected)
            sink = .memory(data)
            if tellsPieces, hasListener(for: .content) { tellData(Data(bytes)) }
            if case .report = order.reception { tellCount(total, expected) }
        case .delegate:
            let data = Data(bytes)
            storing?.append(data)
            background?.note(task, content: data)
            guard let held = gathered?.count else { return tellData(data) }
            guard held + count <= maximumDataLength else { return endTooLong() }
            gathered?.append(data)
        case .file(let file): write(bytes, to: file, total, expected)
        case .bytes(let channel): if !channel.append(bytes) { fallBehind() }
        case .stream(let stream): stream.receive(bytes)
        }
    }

    private func write(_ bytes: Span<UInt8>, to file: DownloadFile, _ total: Int64, _ expected: Int64) {
        do throws(URLError) {
            try file.write(bytes)
            if background != nil { file.note(at: engine.loop.now) }
        } catch {
            return end(error)
        }
        guard tellsPieces, let task = task as? URLSessionDownloadTask else { return }
        let count = Int64(bytes.count)
        let hasRoom = tell(.written, weight: CallbackQueue.pieceWeight) { session, _, delegate in
            (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                session,
                downloadTask: task,
                didWriteData: count,
                totalBytesWritten: total,
                totalBytesExpectedToWrite: expected
            )
        }
        if !hasRoom { fallBehind() }
    }

    private func tellCount(_ total: Int64, _ expected: Int64) {
        guard hasListener(for: .received) else { return }
        let hasRoom = tell(.received, weight: CallbackQueue.pieceWeight) { session, task, delegate in
            (delegate as? any SelectiveDelegate)?.urlSession(session, task: task, didReceive: total, of: expected)
        }
        if !hasRoom { fallBehind() }
    }

    func tellData(_ data: Data) {
        guard let task = task as? URLSessionDataTask else { return }
        let hasRoom = tell(.content, weight: CallbackQueue.pieceWeight + data.count) { session, _, delegate in
            (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: task, didReceive: data)
        }
        if !hasRoom { fallBehind() }
    }

    /// Reading stops until what was delivered has been taken.
    func fallBehind() {
        guard !isBehind else { return }
        isBehind = true
        updateFlow()
    }

    /// The whole of the answer is there.
    func finished() {
        guard case .asking(let question, _) = phase else { return complete() }
        // The end of a short answer overtakes the user: it is told when he has answered.
        phase = .asking(question, .complete)
    }
}

extension TaskLoad {
    /// All of the answer is there, and nobody is being asked anything: the end, but for who reads at his own pace, and who is
    /// still to say what is stored.
    func complete() {
        if case .stream(let stream) = sink {
            phase = .loading(.stream(stream))
            return stream.answerEnded()
        }
        if let data = gathered.take(), !data.isEmpty { tellData(data) }
        if !isStoring() { end(nil) }
    }
}

extension Data {
    init(_ bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    /// - Parameter expected: the length of the whole, if it is known; believed up to a megabyte, since a server may say anything.
    mutating func append(_ bytes: Span<UInt8>, expecting expected: Int64) {
        if isEmpty {
            guard expected > bytes.count else {
                self = Data(bytes)
                return
            }
            reserveCapacity(Int(clamping: Swift.min(expected, 1 << 20)))
        }
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }
}
