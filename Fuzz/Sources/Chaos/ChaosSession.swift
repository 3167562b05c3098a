import Foundation
import Synchronization
import Uncurl

/// A session, and the ways in which tasks are begun, suspended, resumed and cancelled on it.
final class ChaosSession: @unchecked Sendable {
    enum Flavour: CaseIterable {
        /// A delegate on the session's own queue.
        case delegate
        /// A delegate with slow callbacks, on a queue that is suspended now and then.
        case stalling
        /// Completion handlers.
        case handlers
        /// Asynchronous functions.
        case async
    }

    let flavour: Flavour
    let group: Int
    let session: URLSession
    private unowned let round: Round
    private let delegate: ChaosDelegate
    private let queue: OperationQueue?

    init(_ flavour: Flavour, group: Int, of round: Round, _ seed: UInt64) {
        (self.flavour, self.group, self.round) = (flavour, group, round)
        delegate = ChaosDelegate(round, group: group, isSlow: flavour == .stalling)
        let configuration = Self.configuration(round.folder, group)
        if flavour == .stalling {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            self.queue = queue
        } else {
            queue = nil
        }
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        delegate.reentry = { [weak self] dice in self?.beginDelegated(&dice) }
        round.remains.watch(session, "sessions")
        round.remains.watch(delegate, "delegates")
    }

    /// Short time limits, so that tasks whose server never answers end soon after their round.
    static func configuration(_ folder: String, _ group: Int) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 2
        configuration.timeoutIntervalForResource = 8
        configuration.httpMaximumConnectionsPerHost = 4
        configuration.maximumDataLength = 4 << 20
        configuration.urlCache = URLCache(
            memoryCapacity: 1 << 20,
            diskCapacity: 4 << 20,
            directory: URL(fileURLWithPath: "\(folder)/cache-\(group % 3)")
        )
        return configuration
    }

    func invalidate(cancelling: Bool) {
        round.ledger.closes(group)
        queue?.isSuspended = false
        delegate.reentry = nil
        if cancelling { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
    }

    // MARK: Beginning

    func beginOne(_ dice: inout Dice) {
        switch flavour {
        case .delegate: beginDelegated(&dice)
        case .stalling:
            beginDelegated(&dice)
            if dice.chance(5), let queue {
                queue.isSuspended = true
                later(1 + dice.below(60)) { queue.isSuspended = false }
            }
        case .handlers: beginHandled(&dice)
        case .async: beginAwaited(&dice)
        }
    }

    private func beginDelegated(_ dice: inout Dice) {
        guard !round.isEnding else { return }
        let errand = Errand.random(round.orders, &dice)
        var request = URLRequest(url: errand.url)
        let task: URLSessionTask
        let kind: String
        switch dice.below(10) {
        case 0...3: (task, kind) = (session.dataTask(with: request), "data with a delegate")
        case 4, 5: (task, kind) = (session.downloadTask(with: request), "download with a delegate")
        case 6, 7:
            request = uploadRequest(errand)
            let size = [0, 10, 100_000][dice.below(3)]
            (task, kind) = (session.uploadTask(with: request, from: Data(count: size)), "upload with a delegate")
        case 8:
            let errand = Errand.webSocket(round.orders, &dice)
            let socket = session.webSocketTask(with: errand.url)
            talk(on: socket, dice.below(6))
            begin(socket, errand, "WebSocket", &dice)
            return
        default:
            let port = URL(string: dice.chance(70) ? round.orders.plain : round.orders.faulty)?.port ?? 1
            let stream = session.streamTask(withHostName: "127.0.0.1", port: port)
            talk(on: stream)
            begin(stream, errand, "stream", &dice)
            return
        }
        begin(task, errand, kind, &dice)
    }

    private func uploadRequest(_ errand: Errand) -> URLRequest {
        var request = URLRequest(url: errand.url)
        request.httpMethod = "POST"
        if case .alphabet = errand.promise { request.url = URL(string: "/upload", relativeTo: errand.url)?.absoluteURL }
        return request
    }

    private func begin(_ task: URLSessionTask, _ errand: Errand, _ kind: String, _ dice: inout Dice) {
        let id = round.ledger.begin(kind, in: group)
        round.remains.watch(task, kind)
        delegate.follow(task, id, task is URLSessionUploadTask || task is URLSessionStreamTask ? nil : errand)
        task.resume()
        meddle(with: task, id, &dice)
        // A conversation does not end by itself.
        if task is URLSessionWebSocketTask || task is URLSessionStreamTask {
            later(100 + dice.below(400)) { [ledger = round.ledger] in
                ledger.cancels(id)
                task.cancel()
            }
        }
    }

    private func beginHandled(_ dice: inout Dice) {
        let errand = Errand.random(round.orders, &dice)
        let ledger = round.ledger
        let request = URLRequest(url: errand.url)
        let task: URLSessionTask
        let id: Int
        switch dice.below(3) {
        case 0:
            id = ledger.begin("data with a handler", in: group)
            task = session.dataTask(with: request) { data, answer, error in
                ledger.end(id, error, errand.complaint((answer as? HTTPURLResponse)?.statusCode, data ?? Data()))
            }
        case 1:
            id = ledger.begin("download with a handler", in: group)
            task = session.downloadTask(with: request) { file, answer, error in
                // A file may be unreadable while descriptors are taken away. That is no complaint.
                guard let file, let data = try? Data(ofFile: file) else { return ledger.end(id, error) }
                ledger.end(id, error, errand.complaint((answer as? HTTPURLResponse)?.statusCode, data))
            }
        default:
            id = ledger.begin("upload with a handler", in: group)
            let content = Data(count: [1, 200_000][dice.below(2)])
            task = session.uploadTask(with: uploadRequest(errand), from: content) { _, _, error in ledger.end(id, error)
            }
        }
        round.remains.watch(task, "tasks with a handler")
        task.resume()
        meddle(with: task, id, &dice)
    }

    // MARK: Conversations

    private func talk(on socket: URLSessionWebSocketTask, _ count: Int) {
        let round = round
        for number in 0..<count {
            socket.send(.string("message \(number)")) { _ in }
            socket.receive { result in
                guard case .success(.string(let text)) = result, text.hasPrefix("message ") else { return }
                if text != "message \(number)" { round.ledger.complain("WebSocket: \(text) came as message \(number)") }
            }
        }
        socket.sendPing { _ in }
    }

    private func talk(on stream: URLSessionStreamTask) {
        stream.write(Data("GET /range/26 HTTP/1.1\r\nhost: a\r\n\r\n".utf8), timeout: 1) { _ in }
        stream.readData(ofMinLength: 1, maxLength: 65_536, timeout: 1) { _, _, _ in }
    }

    // MARK: Meddling

    private func later(_ milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: work)
    }

    /// Cancels, suspends or changes a task by chance, at once or later.
    private func meddle(with task: URLSessionTask, _ id: Int, _ dice: inout Dice) {
        let (ledger, time) = (round.ledger, dice.below(80))
        switch dice.below(12) {
        case 0:
            ledger.cancels(id)
            task.cancel()
        case 1:
            later(time) {
                ledger.cancels(id)
                task.cancel()
                task.cancel()
            }
        case 2:
            task.suspend()
            later(time) { task.resume() }
        case 3:
            later(time) {
                task.suspend()
                task.suspend()
                task.resume()
                task.resume()
            }
        case 4: task.priority = Float(dice.below(11)) / 10
        case 5:
            guard let download = task as? URLSessionDownloadTask else { return }
            later(time) { [weak self] in
                ledger.cancels(id)
                download.cancel { data in
                    if let data { self?.goOn(data) }
                }
            }
        default: break
        }
    }

    /// Resumes a cancelled download.
    private func goOn(_ data: Data) {
        guard !round.isEnding else { return }
        let ledger = round.ledger
        let id = ledger.begin("download that goes on", in: group)
        let task = session.downloadTask(withResumeData: data) { file, answer, error in
            let status = (answer as? HTTPURLResponse)?.statusCode
            if error == nil, file == nil {
                ledger.complain("a download that went on has no file, status \(status ?? 0)")
            }
            ledger.end(id, error)
        }
        round.remains.watch(task, "tasks with a handler")
        task.resume()
    }

    // MARK: Asynchronous functions

    private func beginAwaited(_ dice: inout Dice) {
        let errand = Errand.random(round.orders, &dice)
        let id = round.ledger.begin("asynchronous", in: group)
        let (ledger, session, choice, isCut) = (round.ledger, session, dice.below(3), dice.chance(15))
        let work = Task {
            do {
                ledger.end(id, nil, try await Self.content(session, errand, choice))
            } catch {
                ledger.end(id, error)
            }
        }
        guard isCut else { return }
        later(dice.below(60)) {
            ledger.cancels(id)
            work.cancel()
        }
    }

    /// Fetches an errand's content in one of three ways. Returns a complaint about it; nil if there is none.
    private static func content(_ session: URLSession, _ errand: Errand, _ choice: Int) async throws -> String? {
        switch choice {
        case 0:
            let (data, answer) = try await session.data(from: errand.url)
            return errand.complaint((answer as? HTTPURLResponse)?.statusCode, data)
        case 1:
            let (file, answer) = try await session.download(from: errand.url)
            defer { try? FileManager.default.removeItem(at: file) }
            guard let data = try? Data(ofFile: file) else { return nil }
            return errand.complaint((answer as? HTTPURLResponse)?.statusCode, data)
        default:
            let (bytes, answer) = try await session.bytes(from: errand.url)
            var data = Data()
            for try await byte in bytes { data.append(byte) }
            return errand.complaint((answer as? HTTPURLResponse)?.statusCode, data)
        }
    }
}
