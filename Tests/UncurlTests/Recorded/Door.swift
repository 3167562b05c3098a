import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Uncurl
import UncurlTestServer

/// Who starts a task and observes it.
enum Door: String, Sendable, CaseIterable {
    case sessionDelegate, taskDelegate, handler, await
    case transfer, awaitedManager, managersTask, operation

    /// Runs the course, and returns the calls.
    func run(_ course: Course) async throws -> String {
        // A function that is awaited begins at once: whether a cancel comes before or after that is chance.
        if course.cancels == "before resume", self == .await || self == .awaitedManager { return "not possible\n" }
        let wire = try Wire(hasOther: true, course.scripts)
        let calls = Calls()
        switch self {
        case .sessionDelegate, .taskDelegate, .handler, .await: try await session(course, wire, calls)
        case .transfer, .awaitedManager, .managersTask, .operation: try await manager(course, wire, calls)
        }
        return wire.settled(calls.text)
    }

    // MARK: A session

    private func session(_ course: Course, _ wire: Wire, _ calls: Calls) async throws {
        let session = wire.session(Watch("session delegate", calls, course.answers), course.configure)
        calls.watch(session.delegateQueue)
        calls.turn(off: true)
        let request = SessionCases.request(course.url(wire), course.method)
        for _ in 0..<course.preloads { _ = try await session.data(for: SessionCases.request(course.url(wire), "GET")) }
        calls.turn(off: false)
        let own = self == .sessionDelegate || self == .handler ? nil : Watch("task delegate", calls, course.answers)
        if self == .await {
            try await awaited(course, wire, calls, session, request, own)
        } else {
            let task = make(course.kind, session, request, calls)
            task.delegate = own
            if course.cancels == "before resume" { task.cancel() }
            task.resume()
            if course.cancels == "sent" {
                try await sent(wire, course, calls, own == nil ? "session delegate" : "task delegate")
                task.cancel()
            }
            await calls.wait(
                for: self == .handler ? "handler" : own == nil ? "session delegate" : "task delegate",
                "end"
            )
            if course.cancels == "end" { task.cancel() }
            let progress = task.progress
            let facts = "\(task.state.rawValue) \(task.countOfBytesSent) \(task.countOfBytesReceived)"
            calls.add("task", "state, sent, received", facts)
            calls.add("task", "progress", progress.completedUnitCount, "of", progress.totalUnitCount)
            calls.add("task", "request", task.currentRequest?.httpMethod, task.currentRequest?.url?.path)
        }
        session.finishTasksAndInvalidate()
        await calls.wait(for: "session delegate", "invalid")
    }

    private func make(
        _ kind: Course.Kind,
        _ session: URLSession,
        _ request: URLRequest,
        _ calls: Calls
    ) -> URLSessionTask {
        let data = { @Sendable (data: Data?, response: URLResponse?, error: (any Error)?) in
            calls.add("handler", "end", data?.count, (response as? HTTPURLResponse)?.statusCode, code(error))
        }
        let file = { @Sendable (file: URL?, response: URLResponse?, error: (any Error)?) in
            data(file.flatMap { try? Data(contentsOf: $0) }, response, error)
        }
        switch (kind, self == .handler) {
        case (.data, false): return session.dataTask(with: request)
        case (.data, true): return session.dataTask(with: request, completionHandler: data)
        case (.upload, false): return session.uploadTask(withStreamedRequest: request)
        case (.upload, true): return session.uploadTask(with: request, from: Sample.small, completionHandler: data)
        case (.download, false): return session.downloadTask(with: request)
        case (.download, true): return session.downloadTask(with: request, completionHandler: file)
        }
    }

    private func awaited(
        _ course: Course,
        _ wire: Wire,
        _ calls: Calls,
        _ session: URLSession,
        _ request: URLRequest,
        _ own: Watch?
    ) async throws {
        let caller = Task {
            do {
                let (count, response) =
                    switch course.kind {
                    case .data: try await Self.count(session.data(for: request, delegate: own))
                    case .upload: try await Self.count(session.upload(for: request, from: Sample.small, delegate: own))
                    case .download: try await Self.count(session.download(for: request, delegate: own))
                    }
                calls.add("caller", "end", count, response)
            } catch {
                calls.add("caller", "end", code(error))
            }
        }
        if course.cancels == "sent" { try await sent(wire, course, calls, "task delegate") }
        if course.cancels != nil, course.cancels != "end" { caller.cancel() }
        await caller.value
        if course.cancels == "end" { caller.cancel() }
    }

    private static func count(_ answer: (Data, URLResponse)) -> (Int, Int) {
        (answer.0.count, (answer.1 as? HTTPURLResponse)?.statusCode ?? 0)
    }

    private static func count(_ answer: (URL, URLResponse)) throws -> (Int, Int) {
        try count((Data(contentsOf: answer.0), answer.1))
    }

    /// Waits until the server has got the request, and the observer knows it.
    private func sent(_ wire: Wire, _ course: Course, _ calls: Calls, _ observer: String) async throws {
        try wire.servers[0].wait(for: 0, "the request") { $0.stepsDone > 0 }
        if course.kind == .upload { await calls.wait(for: observer, "sent") }
    }

    // MARK: A manager

    private func manager(_ course: Course, _ wire: Wire, _ calls: Calls) async throws {
        let manager = wire.manager(course.configure)
        manager.clock = ImmediateClock()
        let (monitored, completed) = (DispatchQueue(label: "monitor"), DispatchQueue(label: "completion"))
        manager.completionQueue = completed
        let place = course.url(wire).absoluteString
        for _ in 0..<course.preloads {
            _ = await manager.response(
                to: HTTPRequest(place, options: RequestOptions(caching: .cache)),
                serializer: .data
            )
        }
        calls.watch(manager.session.delegateQueue)
        calls.watch(manager, course.answers, monitored)
        manager.interceptors = course.interceptors()
        var request = HTTPRequest(HTTPMethod(rawValue: course.method), place)
        if course.kind == .upload { request.body = .stream { InputStream(data: Sample.small) } }
        request.options.hooks = calls.hooks("request's hooks", course.answers)
        request.options.uploadProgress = { calls.add("upload progress", "at", $0.completed, "of", $0.total) }
        request.options.downloadProgress = { calls.add("download progress", "at", $0.completed, "of", $0.total) }
        let ended = try start(request, course, manager, wire, calls)
        if course.cancels == "sent" {
            // The monitor has a queue of its own, on which it may hear of the cancellation first.
            try await sent(wire, course, calls, "monitor")
            ended.cancel()
        }
        await ended.wait()
        if course.cancels == "end" { ended.cancel() }
        await Self.end(manager, calls, monitored, completed)
    }

    /// Returns when no observer of the manager gets another call.
    static func end(
        _ manager: URLSessionManager,
        _ calls: Calls,
        _ monitored: DispatchQueue,
        _ completed: DispatchQueue
    ) async {
        await drain(completed)
        manager.invalidate(cancellingTasks: false)
        await calls.wait(for: "notifications", "session.invalidate")
        await drain(completed)
        await drain(monitored)
    }

    private static func drain(_ queue: DispatchQueue) async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private struct Started {
        let cancel: @Sendable () -> Void
        let wait: @Sendable () async -> Void
    }

    private func start(
        _ request: HTTPRequest,
        _ course: Course,
        _ manager: HTTPSessionManager,
        _ wire: Wire,
        _ calls: Calls
    ) throws -> Started {
        let cancelsFirst = course.cancels == "before resume"
        let isHandled = { @Sendable in await calls.wait(for: "completion", "end") }
        switch self {
        case .transfer where course.kind == .download:
            let transfer = manager.downloadTransfer(request) { Self.note($0, calls) }
            if cancelsFirst { transfer.cancel() }
            transfer.resume()
            return Started(cancel: { transfer.cancel() }, wait: isHandled)
        case .transfer:
            let transfer = manager.transfer(request, serializer: .data) { Self.note($0, calls) }
            if cancelsFirst { transfer.cancel() }
            transfer.resume()
            return Started(cancel: { transfer.cancel() }, wait: isHandled)
        case .managersTask:
            let whole = SessionCases.request(course.url(wire), course.method)
            let task: URLSessionTask =
                switch course.kind {
                case .data: manager.dataTask(with: whole, serializer: .data) { Self.note($0, calls) }
                case .upload:
                    manager.uploadTask(with: whole, from: .data(Sample.small), serializer: .data) {
                        Self.note($0, calls)
                    }
                case .download: manager.downloadTask(with: whole, serializer: .file) { Self.note($0, calls) }
                }
            if cancelsFirst { task.cancel() }
            task.resume()
            return Started(cancel: { task.cancel() }, wait: isHandled)
        case .operation:
            let operation = try HTTPRequestOperation(request, manager: manager, serializer: .data)
            operation.onCompletion { Self.note($0, calls) }
            if cancelsFirst { operation.cancel() }
            operation.start()
            // Where the end is told, so that it cannot come in the middle of the cancel: a monitor would not hear of that.
            let queue = manager.session.delegateQueue
            return Started(cancel: { queue.addOperation { operation.cancel() } }, wait: isHandled)
        default:
            let caller = Task {
                if course.kind == .download {
                    Self.note(await manager.downloadResponse(request), calls)
                } else {
                    Self.note(await manager.response(to: request, serializer: .data), calls)
                }
            }
            if cancelsFirst { caller.cancel() }
            return Started(cancel: { caller.cancel() }, wait: isHandled)
        }
    }

    static func note<Value>(_ response: Response<Value>, _ calls: Calls) {
        if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
        calls.add(
            "completion",
            "end",
            response.statusCode,
            response.data.count,
            code(response.error),
            response.retryCount
        )
    }
}
