import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// A task and its delegate refer to each other, and a handler to objects of the program. After the task's end, none of
/// them may be in memory.
@Suite("What tasks leave behind", .timeLimit(.minutes(5)))
struct TaskLifetimeTests {
    @Test(
        "an ended task leaves no task, delegate, session or object of its handler in memory",
        arguments: Beginning.allCases,
        Ending.allCases
    )
    func nothingIsLeft(beginning: Beginning, ending: Ending) async throws {
        let census = Census()
        try await spend(3, beginning, ending, manager(beginning, census), census)
        #expect(census.count >= 3)
        #expect(await Sightings<Int>.eventually { census.alive.isEmpty }, "\(census.alive)")
    }

    /// UNCURL_TASKS=20000 is what `./dev bench tasks` asks for.
    private static let tasks = ProcessInfo.processInfo.environment["UNCURL_TASKS"].flatMap { Int($0) } ?? 100
    /// A server stores its requests, so it is released before the objects are counted.
    private static let tasksOfAServer = 500

    @Test("successive tasks leave no objects, and memory does not grow", arguments: Beginning.allCases)
    func memory(beginning: Beginning) async throws {
        let census = Census()
        try await { () async throws in
            let manager = manager(beginning, census)
            func spend(_ count: Int) async throws {
                for first in stride(from: 0, to: count, by: Self.tasksOfAServer) {
                    let count = min(Self.tasksOfAServer, count - first)
                    try await self.spend(count, beginning, .answered, manager, census)
                }
            }
            try await spend(Self.tasks / 4)
            let before = Self.residentKilobytes
            try await spend(Self.tasks)
            let growth = Self.residentKilobytes - before
            guard Self.tasks >= 10_000 else { return }
            print("\(beginning): \(Self.tasks) tasks: memory grew by \(growth) kB")
            #expect(growth < 2048)
        }()
        #expect(await Sightings<Int>.eventually { census.alive.isEmpty }, "\(census.alive)")
    }

    @Test("a transfer that has not begun leaves nothing once it is released", arguments: [false, true])
    func neverBegun(suspends: Bool) async {
        let census = Census()
        func hold() {
            let manager = manager(.transfer, census)
            let token = Token()
            census.watch(token)
            let transfer = manager.transfer("x", serializer: .data) { _ in withExtendedLifetime(token) {} }
            let download = manager.downloadTransfer("x") { _ in withExtendedLifetime(token) {} }
            for control in [transfer.control, download.control] {
                census.watch(control)
                if suspends { control.suspend() }
            }
        }
        hold()
        #expect(census.count == 5)
        #expect(await Sightings<Int>.eventually { census.alive.isEmpty }, "\(census.alive)")
    }

    @Test("settings that a manager no longer has are released, also after a request that was built by them")
    func formerSettings() async throws {
        let server = try TestServer.start()
        let manager = HTTPSessionManager(configuration: .isolated)
        let census = Census()
        func set() {
            let token = Token()
            census.watch(token)
            manager.hooks.didComplete = { _, _, _ in withExtendedLifetime(token) {} }
        }
        set()
        #expect(await manager.response(to: HTTPRequest(server.url("/get")), serializer: .data).error == nil)
        #expect(census.alive.count == 1)
        manager.hooks = TaskHooks()
        #expect(await Sightings<Int>.eventually { census.alive.isEmpty }, "\(census.alive)")
        withExtendedLifetime(manager) {}
    }

    private static var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private func manager(_ beginning: Beginning, _ census: Census) -> HTTPSessionManager {
        let manager = HTTPSessionManager(configuration: .isolated)
        manager.notificationCenter = nil
        manager.clock = ImmediateClock()
        if beginning.isAwaited { manager.monitors = [census.monitor] }
        census.watch(manager)
        census.watch(manager.session)
        return manager
    }

    /// Begins this many tasks, one after the other, and waits for the end of each.
    private func spend(
        _ count: Int,
        _ beginning: Beginning,
        _ ending: Ending,
        _ manager: HTTPSessionManager,
        _ census: Census
    ) async throws {
        let server = try ending.server(of: beginning)
        defer { server.stop() }
        let url = URL(string: server.url("/x"))!
        let half = HTTPRequest(url.absoluteString)
        let rest = beginning.needsResumeData ? await manager.downloadResponse(half).resumeData : nil
        for number in 0..<count {
            let begun = try beginning.begin(manager, url, rest, census)
            switch ending {
            case .answered, .refused, .brokenOff: begun.resume()
            case .cancelled:
                begun.resume()
                #expect(await Sightings<Int>.eventually { server.requests > number + (rest == nil ? 0 : 1) })
                begun.cancel()
            case .cancelledFirst:
                begun.cancel()
                begun.resume()
            case .invalidated:
                begun.resume()
                #expect(await Sightings<Int>.eventually { server.requests > number + (rest == nil ? 0 : 1) })
                manager.invalidate(cancellingTasks: true, resettingSession: true)
                census.watch(manager.session)
            }
            await begun.end()
        }
    }
}

extension RawServer {
    /// How many requests have come, at most one on each connection. A connection may be there before its request, and a
    /// task that is cancelled in between leaves it to the next.
    fileprivate var requests: Int { connections.count { !$0.received.isEmpty } }
}

/// Each way to begin a task.
enum Beginning: String, CaseIterable, CustomStringConvertible {
    case data, dataByManagersSerializer, uploadOfData, uploadOfFile, uploadOfStream
    case download, downloadToPlace, resumedDownload
    case awaited, awaitedByManagersSerializer, awaitedDownload, awaitedResumedDownload, verb, form
    case started, transfer, downloadTransfer
    case stream, events, operation

    var description: String { rawValue }

    var needsResumeData: Bool { self == .resumedDownload || self == .awaitedResumedDownload }

    /// A monitor sees its tasks; the caller holds the others.
    var isAwaited: Bool {
        switch self {
        case .data, .dataByManagersSerializer, .uploadOfData, .uploadOfFile, .uploadOfStream, .download,
            .downloadToPlace, .resumedDownload, .operation:
            false
        default: true
        }
    }
}

/// Each way for it to end.
enum Ending: String, CaseIterable, CustomStringConvertible {
    case answered, refused, brokenOff, cancelled, cancelledFirst, invalidated

    var description: String { rawValue }

    private func answer(to beginning: Beginning) -> String {
        let fields = "ETag: \"a\"\r\nAccept-Ranges: bytes\r\n"
        let isEvents = beginning == .events
        let json =
            "HTTP/1.1 200 OK\r\n\(fields)Content-Type: \(isEvents ? "text/event-stream" : "application/json")\r\n"
        return switch self {
        case .answered where isEvents: json + "Content-Length: 9\r\n\r\ndata: 1\n\n"
        case .answered: json + "Content-Length: 2\r\n\r\n{}"
        case .refused: "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"
        case .brokenOff where isEvents: json + "Content-Length: 99\r\n\r\ndata: 1\n\nhalf"
        case .brokenOff, .cancelled, .cancelledFirst, .invalidated: json + "Content-Length: 99\r\n\r\nhalf"
        }
    }

    /// What the resumed download of a beginning goes on with is the first connection's.
    func server(of beginning: Beginning) throws -> RawServer {
        let answer = answer(to: beginning)
        let half = Ending.brokenOff.answer(to: .download)
        let first: [RawScript] = beginning.needsResumeData ? [[.receive(.headEnd), .send(half), .finish]] : []
        return switch self {
        case .answered, .refused: try .start(first, otherwise: .answering(Array(answer.utf8)))
        case .brokenOff: try .start(first, otherwise: [.receive(.headEnd), .send(answer), .finish])
        case .cancelled, .cancelledFirst, .invalidated:
            try .start(first, otherwise: [.receive(.headEnd), .send(answer), .stall])
        }
    }
}

/// A task, or the object that made it.
struct Begun {
    let resume: () -> Void
    let cancel: () -> Void
    let end: () async -> Void

    fileprivate init(_ task: URLSessionTask, _ done: Log<Int>) {
        resume = { task.resume() }
        cancel = { task.cancel() }
        end = { await done.wait(for: 1) }
    }

    fileprivate init<Value>(_ transfer: Transfer<Value>) {
        resume = { transfer.resume() }
        cancel = { transfer.cancel() }
        end = { _ = await transfer.response }
    }

    fileprivate init(_ operation: HTTPRequestOperation, _ done: Log<Int>) {
        resume = { OperationQueue().addOperation(operation) }
        cancel = { operation.cancel() }
        end = { await done.wait(for: 1) }
    }

    fileprivate init(_ work: @escaping @Sendable () async -> Void) {
        let go = Log<Int>()
        let task = Task {
            await go.wait(for: 1)
            await work()
        }
        resume = { go.add(1) }
        cancel = { task.cancel() }
        end = { await task.value }
    }
}

extension Beginning {
    /// Everything that a task of this kind is made of is watched.
    fileprivate func begin(
        _ manager: HTTPSessionManager,
        _ url: URL,
        _ rest: Data?,
        _ census: Census
    ) throws -> Begun {
        let (token, done) = (Token(), Log<Int>())
        census.watch(token)
        let tell: @Sendable () -> Void = {
            withExtendedLifetime(token) {}
            done.add(1)
        }
        func begun(_ task: URLSessionTask) -> Begun {
            census.watch(task)
            if let delegate = manager.delegate(for: task) {
                census.watch(delegate)
                // A hook may hold the task, too.
                delegate.hooks.didComplete = { _, _, _ in withExtendedLifetime((token, task)) {} }
            }
            return Begun(task, done)
        }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        let get = URLRequest(url: url)
        let request = HTTPRequest(url.absoluteString)
        switch self {
        case .data:
            // A handler that holds its own task.
            let holder = Holder()
            census.watch(holder)
            let task = manager.dataTask(with: get, serializer: .json) { _ in
                withExtendedLifetime(holder) {}
                tell()
            }
            holder.held.withLock { $0 = task }
            return begun(task)
        case .dataByManagersSerializer: return begun(manager.dataTask(with: get) { _ in tell() })
        case .uploadOfData:
            return begun(manager.uploadTask(with: post, from: .data(Data([1])), serializer: .json) { _ in tell() })
        case .uploadOfFile:
            let file = UploadBody.file(URL(fileURLWithPath: #filePath))
            return begun(manager.uploadTask(with: post, from: file, serializer: .json) { _ in tell() })
        case .uploadOfStream:
            let stream = UploadBody.stream {
                withExtendedLifetime(token) {}
                return InputStream(data: Data([1]))
            }
            return begun(manager.uploadTask(with: post, from: stream, serializer: .json) { _ in tell() })
        case .download:
            return begun(
                manager.downloadTask(with: get, serializer: .file, progress: { _ in tell() }) { response in
                    response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
                    tell()
                }
            )
        case .downloadToPlace:
            let place = DownloadDestination { file, _ in file.appendingPathExtension("moved") }
            return begun(
                manager.downloadTask(with: get, to: place, serializer: .json) { response in
                    response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
                    tell()
                }
            )
        case .resumedDownload:
            return begun(
                manager.downloadTask(resuming: rest ?? Data(), serializer: .file) { response in
                    response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
                    tell()
                }
            )
        case .awaited: return Begun { _ = await manager.response(to: request, serializer: .json) }
        case .awaitedByManagersSerializer: return Begun { _ = await manager.response(to: request) }
        case .awaitedDownload:
            return Begun {
                let response = await manager.downloadResponse(request)
                response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            }
        case .awaitedResumedDownload:
            return Begun {
                let response = await manager.downloadResponse(resuming: rest ?? Data())
                response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            }
        case .verb: return Begun { _ = try? await manager.get(url.absoluteString, as: [String: String].self) }
        case .form:
            var form = MultipartForm()
            try form.append(.text("x"), name: "x")
            return Begun { [form] in
                _ = try? await manager.post(url.absoluteString, body: .multipart(form), as: [String: String].self)
            }
        case .started: return Begun(manager.transfer(request, serializer: .json) { _ in tell() })
        case .transfer: return Begun(manager.transfer(request, serializer: .json) { _ in tell() })
        case .downloadTransfer:
            return Begun(
                manager.downloadTransfer(request) { response in
                    response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
                    tell()
                }
            )
        case .stream:
            return Begun {
                guard let stream = try? await manager.stream(request) else { return }
                do { for try await _ in stream { withExtendedLifetime(token) {} } } catch {}
            }
        case .events:
            return Begun {
                do { for try await _ in manager.events(request) { break } } catch {}
            }
        case .operation:
            let operation = HTTPRequestOperation(request: get, manager: manager, serializer: .json)
            operation.onCompletion { _ in tell() }
            census.watch(operation)
            return Begun(operation, done)
        }
    }
}

private final class Token: Sendable {}

private final class Holder: Sendable {
    let held = Mutex<URLSessionTask?>(nil)
}

/// Objects that are watched without being held.
private final class Census: Sendable {
    private struct Entry: @unchecked Sendable {
        // `@unchecked`: a weak reference may be read from any thread.
        weak var object: AnyObject?
        let name: String
    }

    private struct State {
        var entries: [Entry] = []
        var count = 0
    }

    private let state = Mutex(State())

    func watch(_ object: AnyObject) {
        state.withLock { state in
            // A weak reference costs memory for as long as it is kept, and memory is what is measured.
            if state.entries.count == 1000 { state.entries.removeAll { $0.object == nil } }
            state.entries.append(Entry(object: object, name: "\(type(of: object))"))
            state.count += 1
        }
    }

    /// The number of watched objects.
    var count: Int { state.withLock { $0.count } }

    /// The kinds of the objects that still exist.
    var alive: [String] { state.withLock { $0.entries.compactMap { $0.object == nil ? nil : $0.name } } }

    /// Watches the tasks that a manager makes, and their delegates.
    var monitor: some EventMonitor {
        ClosureEventMonitor { [weak self] event in
            guard case .createdTask(let task) = event.kind else { return }
            self?.watch(task)
            if let delegate = task.delegate { self?.watch(delegate) }
        }
    }
}
