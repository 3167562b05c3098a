internal import Synchronization
internal import URLLoading

/// A download in several parts at once. Each part has a request of its own, and all parts are written to one file.
final class SegmentedDownload: Sendable {
    /// Thrown where the parts do not form one content. The content is then loaded again as a whole.
    private static let unfit = CocoaError(.fileReadCorruptFile)

    private let manager: URLSessionManager
    private let request: HTTPRequest
    private let destination: DownloadDestination?
    private let segments: Int
    /// The rates of one part. All connections together keep to those of the request.
    private let share: Throttle?
    /// The failure is that of a connection, while other connections continue.
    private let state = Mutex<(plan: SegmentPlan?, received: Int64, failure: UncurlError?)>((nil, 0, nil))
    /// The control of the whole download, which the request's deadline and tag apply to.
    let control: TransferControl

    init(_ manager: URLSessionManager, _ request: HTTPRequest, _ destination: DownloadDestination?, _ segments: Int) {
        self.manager = manager
        // The content may be loaded again as a whole, and then the progress must not go back.
        self.request = request.withProgressOfAllAttempts
        self.destination = destination
        self.segments = segments
        let connections = min(segments, manager.configuration.httpMaximumConnectionsPerHost)
        share = (try? manager.urlRequest(for: request))?.throttle?.share(of: max(1, connections))
        // No monitors here: they receive the request of each part.
        control = TransferControl([], in: manager.core.transfers, tag: request.options.tag)
    }

    /// Cancelling the Swift task cancels the download.
    func response() async -> Response<URL> {
        control.resume()
        control.limit(by: request.options.deadline ?? manager.deadline, on: manager.clock)
        let work = Task { await loaded() }
        control.carries { work.cancel() }
        let response = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            control.cancel()
        }
        let ended = response.error.map { response.failing(control.reason(for: $0)) } ?? response
        await settle()
        control.finish(ended.statusCode, ended.error, retryCount: ended.retryCount)
        return ended
    }

    private func loaded() async -> Response<URL> {
        var first = SegmentPlan.Segment(first: 0, last: SegmentPlan.shortest - 1)
        var file: SegmentFile?
        var head: HTTPURLResponse?
        var validator: String?
        do {
            let stream = try await opened(first, nil, isFirst: true)
            head = stream.response
            guard takes(stream.response, first) else { throw Self.unfit }
            let made = try SegmentFile()
            file = made
            guard let total = stream.response.wholeLength(ofPart: first.first, first.last, nil, nil) else {
                // The server does not serve ranges, and sends the whole content.
                try await readWhole(stream, made)
                return try await placed(made, stream.response)
            }
            let known = stream.response.rangeValidator ?? ""
            validator = known
            first = SegmentPlan.Segment(first: 0, last: min(first.last, total - 1))
            state.withLock { [first] in $0.plan = SegmentPlan(total: total, first: first, segments: segments) }
            try await readParts(first, stream, made, known)
            guard made.length == total else { throw Self.unfit }
            return try await placed(made, stream.response)
        } catch is CocoaError {
            file?.remove()
            return await whole()
        } catch UncurlError.transport(let error) where error.code == .unsupportedURL {
            // The URL is not that of a server, so nothing can send parts.
            return await whole()
        } catch {
            let failure = error as? UncurlError ?? .cancelled
            return failed(control.isCancelled ? .cancelled : failure, file, head, validator)
        }
    }

    // MARK: Requests

    /// Sends the request for one part, and returns when the head of its answer has come.
    private func opened(
        _ segment: SegmentPlan.Segment,
        _ validator: String?,
        isFirst: Bool = false
    ) async throws -> ResponseStream {
        var part = request
        part.headers["Range"] = segment.range
        if let validator { part.headers["If-Range"] = validator }
        // The deadline and the progress belong to the whole download, and its head is that of the first part.
        var options = request.options
        (options.deadline, options.downloadProgress, options.onResponse) = (nil, nil, nil)
        options.throttle = share
        if isFirst, let hear = request.options.onResponse {
            options.onResponse = { [self] in takes($0, segment) ? await hear($0) : .allow }
        }
        options.cachePolicy = options.cachePolicy ?? .reloadIgnoringLocalCacheData
        // The program's checks are for the whole file.
        var accepted = validation.withoutChecks
        if isFirst {
            // Empty content has no first part (RFC 9110 §14.1.2).
            accepted.statusCodes?.formUnion([206, 416])
        } else {
            accepted.statusCodes = [200, 206]
        }
        options.validation = accepted
        part.options = options
        return try await manager.stream(part)
    }

    /// Whether the download begins with this answer. If not, the content is loaded again as a whole: empty content has
    /// no parts (416), parts without a strong validator do not fit together, one connection that sends everything would
    /// get only its share of a rate, and a session does not decode what comes for a range.
    private func takes(_ head: HTTPURLResponse, _ segment: SegmentPlan.Segment) -> Bool {
        guard head.value(forHTTPHeaderField: "Content-Encoding") == nil else { return false }
        guard head.statusCode == 206 else { return head.statusCode != 416 && share == nil }
        return head.rangeValidator != nil && head.wholeLength(ofPart: segment.first, segment.last, nil, nil) != nil
    }

    /// Loads the content over one connection, as an ordinary download.
    private func whole() async -> Response<URL> {
        var plain = request
        let hear = request.options.downloadProgress
        plain.options.downloadProgress = { [control] progress in
            control.note(received: progress)
            hear?(progress)
        }
        let run = TransferRun(manager, plain.options, by: .file, .file, to: destination)
        run.control.tellFirst(.began(plain))
        control.lead(run.control)
        return Response(await run.response(to: plain))
    }

    // MARK: Content

    private func readWhole(_ stream: ResponseStream, _ file: SegmentFile) async throws {
        var length: Int64 = 0
        for try await data in stream {
            await control.ready()
            try file.write(data, at: length)
            length += Int64(data.count)
            tell(data.count, of: stream.response.expectedContentLength)
        }
    }

    private func readParts(
        _ first: SegmentPlan.Segment,
        _ stream: ResponseStream,
        _ file: SegmentFile,
        _ validator: String
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.work(file, validator, (first, stream)) }
            for _ in 1..<max(2, segments) {
                group.addTask { try await self.work(file, validator, nil) }
            }
            try await group.waitForAll()
        }
        // Loads the parts that a connection gave back after the others had ended.
        if state.withLock({ $0.plan?.isWhole == false }) { try await work(file, validator, nil) }
        let (isWhole, failure) = state.withLock { ($0.plan?.isWhole ?? false, $0.failure) }
        guard isWhole else { throw failure ?? .cancelled }
    }

    /// Loads parts over one connection until none is left.
    private func work(
        _ file: SegmentFile,
        _ validator: String,
        _ begun: (SegmentPlan.Segment, ResponseStream?)?
    ) async throws {
        var begun = begun
        while let (given, stream) = begun.take() ?? taken() {
            var segment = given
            do {
                try await read(&segment, stream, file, validator)
            } catch let error as UncurlError {
                segment.failures += 1
                let rest = segment
                state.withLock { $0.plan?.giveBack(rest) }
                switch error {
                case .transport(let cause) where cause.code != .cannotWriteToFile:
                    if segment.failures >= SegmentPlan.mostFailures { throw error }
                // The server refuses one more connection; the other connections may continue.
                case .validation:
                    state.withLock { $0.failure = error }
                    return
                default: throw error
                }
            }
        }
    }

    private func taken() -> (SegmentPlan.Segment, ResponseStream?)? {
        state.withLock { state in state.plan?.take().map { ($0, nil) } }
    }

    private func read(
        _ segment: inout SegmentPlan.Segment,
        _ begun: ResponseStream?,
        _ file: SegmentFile,
        _ validator: String
    ) async throws {
        await control.ready()
        let stream: ResponseStream
        if let begun {
            stream = begun
        } else {
            stream = try await opened(segment, validator)
            let total = state.withLock { $0.plan?.total }
            // The content has changed, or the server sent something else, or coded this part.
            guard stream.response.value(forHTTPHeaderField: "Content-Encoding") == nil,
                stream.response.wholeLength(ofPart: segment.first, segment.last, validator, total) != nil
            else { throw Self.unfit }
        }
        for try await data in stream {
            await control.ready()
            guard Int64(data.count) <= segment.last - segment.first + 1 else { throw Self.unfit }
            try file.write(data, at: segment.first)
            let before = segment
            segment = state.withLock { state in
                var segment = before
                state.plan?.advance(&segment, by: data.count)
                return segment
            }
            tell(data.count, of: state.withLock { $0.plan?.total ?? -1 })
        }
        guard segment.isWhole else { throw UncurlError.transport(URLError(.networkConnectionLost)) }
    }

    private func tell(_ count: Int, of total: Int64) {
        // All of it happens under the lock: the queue is serial, so progress never goes back.
        state.withLock { state in
            state.received += Int64(count)
            let progress = TransferProgress(state.received, of: total)
            control.note(received: progress)
            guard let hear = request.options.downloadProgress else { return }
            manager.session.delegateQueue.addLasting { [control] in if !control.isCancelled { hear(progress) } }
        }
    }

    // MARK: The end

    /// Returns when all progress has been told: none follows the request's end.
    private func settle() async {
        let queue = manager.session.delegateQueue
        await withCheckedContinuation { continuation in queue.addLasting { continuation.resume() } }
    }

    private var validation: ResponseValidation {
        request.options.validation(else: ResponseValidation(), manager.core.settings.values.options)
    }

    /// What the program's checks refuse of the whole file; see ``DownloadMove/refusal(_:_:by:)``.
    private func refusal(of file: URL, _ head: HTTPURLResponse) -> ValidationFailure? {
        let sent = try? manager.urlRequest(for: request)
        var answer = ReceivedResponse(request: sent, response: head, data: Data(), fileURL: file)
        guard let failure = validation.checksAlone.failure(of: answer) else { return nil }
        if destination != nil { answer.takeFileIn() }
        return ValidationFailure(failure.reasons, answer: answer)
    }

    private func placed(_ file: SegmentFile, _ head: HTTPURLResponse) async throws -> Response<URL> {
        try file.checkWrites()
        if let refusal = refusal(of: file.url, head) {
            return Response(facts(refusal.fileURL, head, .validation(refusal), nil))
        }
        let session = manager.session
        let place: URL = try await withCheckedThrowingContinuation { continuation in
            session.delegateQueue.addLasting { [destination] in
                continuation.resume(with: Result { try Self.put(file, head, destination) })
            }
        }
        return Response(facts(place, head, nil, nil))
    }

    private static func put(
        _ file: SegmentFile,
        _ head: HTTPURLResponse,
        _ destination: DownloadDestination?
    ) throws(UncurlError) -> URL {
        guard let destination, let place = destination.place(for: file.url, head) else {
            return URL(fileURLWithPath: StoreFile.completed(file.url.path))
        }
        do throws(FileFailure) {
            try destination.options.move(file.url, to: place)
            return place
        } catch {
            throw .file(error)
        }
    }

    /// Makes resume data of the content that came without a gap.
    private func failed(
        _ error: UncurlError,
        _ file: SegmentFile?,
        _ head: HTTPURLResponse?,
        _ validator: String?
    ) -> Response<URL> {
        if case .file = error { return Response(facts(file?.url, head, error, nil)) }
        var data: Data?
        if let file, let validator, let plan = state.withLock({ $0.plan }), file.cut(to: plan.prefix) {
            data = (try? manager.urlRequest(for: request))?.resumeData(
                validator: validator,
                path: file.url.path,
                received: plan.prefix,
                expected: plan.total
            )
        }
        if data == nil { file?.remove() }
        return Response(facts(nil, head, error, data))
    }

    private func facts(
        _ file: URL?,
        _ head: HTTPURLResponse?,
        _ error: UncurlError?,
        _ resumeData: Data?
    ) -> ResponseFacts {
        ResponseFacts(
            try? manager.urlRequest(for: request),
            head ?? error?.response as? HTTPURLResponse,
            data: file == nil ? error?.responseData ?? Data() : Data(),
            fileURL: file,
            error: error,
            resumeData: resumeData,
            made: error == nil ? file : nil
        )
    }
}
