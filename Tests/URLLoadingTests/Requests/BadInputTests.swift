import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// Bad input gives a `URLError` with both failing URLs and a cause in words, once, on the right queue. It never traps.
@Suite("Bad input", .ownThread, .timeLimit(.minutes(5)))
struct BadInputTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }

    private func failure(_ body: () async throws -> some Any) async -> URLError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? URLError
        }
    }

    private func isWhole(_ error: URLError?, _ url: URL?) -> Bool {
        guard let error, let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError else { return false }
        return !cause.localizedDescription.isEmpty
            && error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url
            && error.userInfo["NSErrorFailingURLStringKey"] as? String == url?.absoluteString
    }

    @Test(
        "foreign URLs",
        arguments: ["ftp://127.0.0.1/x", "mailto:a@b", "http:", "https:///x", "http://[::1", "unix:/x", "about:blank"]
    )
    func foreign(text: String) async throws {
        guard let target = URL(string: text) else { return }
        let session = URLSession(configuration: .isolated)
        let error = await failure { try await session.data(from: target) }
        #expect(isWhole(error, target), "\(String(describing: error))")
        let download = await failure { try await session.download(from: target) }
        #expect(isWhole(download, target))
    }

    @Test("files that cannot be read")
    func unreadable() async throws {
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url("/upload"))
        request.httpMethod = "POST"
        let folder = URL(fileURLWithPath: "/tmp", isDirectory: true)
        for (file, code) in [
            (URL(fileURLWithPath: "/nonexistent/file"), URLError.Code.fileDoesNotExist), (folder, .fileIsDirectory),
            (URL(fileURLWithPath: "/dev/null"), .cannotOpenFile),
        ] {
            let sent = request
            let error = await failure { try await session.upload(for: sent, fromFile: file) }
            #expect(error?.code == code && error?.userInfo[NSUnderlyingErrorKey] != nil)
        }
        let remote = try url("/x")
        let sent = request
        #expect(await failure { try await session.upload(for: sent, fromFile: remote) }?.code == .cannotOpenFile)
        #expect(
            await failure { try await session.data(from: URL(fileURLWithPath: "/nonexistent")) }?.code
                == .fileDoesNotExist
        )
    }

    @Test("a path with a NUL is refused, and does not name the file before the NUL")
    func nul() async throws {
        let session = URLSession(configuration: .isolated)
        let hosts = try #require(URL(string: "file:///etc/hosts%00.png"))
        #expect(await failure { try await session.data(from: hosts) } != nil)
        var request = URLRequest(url: try url("/upload"))
        request.httpMethod = "POST"
        let sent = request
        #expect(await failure { try await session.upload(for: sent, fromFile: hosts) } != nil)
        #expect(server.requestCount == 0)
    }

    @Test("an invalidated session's tasks of every kind fail, once each, on the delegate queue")
    func invalidated() async throws {
        let queue = OperationQueue()
        let session = URLSession(configuration: .isolated, delegate: nil, delegateQueue: queue)
        session.invalidateAndCancel()
        session.finishTasksAndInvalidate()
        let target = try url("/get")
        let request = URLRequest(url: target)
        let told = Mutex(0)
        await withCheckedContinuation { (all: CheckedContinuation<Void, Never>) in
            let count: @Sendable (Bool, (any Error)?) -> Void = { isQueue, error in
                #expect(isQueue && error is URLError)
                let number = told.withLock { told in
                    told += 1
                    return told
                }
                if number == 3 { all.resume() }
            }
            session.dataTask(with: request) { count(OperationQueue.current === queue, $2) }.resume()
            session.downloadTask(with: request) { count(OperationQueue.current === queue, $2) }.resume()
            session.uploadTask(with: request, from: nil) { count(OperationQueue.current === queue, $2) }.resume()
        }
        for task: URLSessionTask in [
            session.webSocketTask(with: target), session.streamTask(withHostName: "127.0.0.1", port: 1),
            session.uploadTask(withStreamedRequest: request), session.downloadTask(withResumeData: Data()),
        ] {
            task.resume()
            task.suspend()
            task.resume()
            task.cancel()
            await until { task.state == .completed }
            #expect(task.error is URLError)
        }
        #expect(await failure { try await session.data(from: target) } != nil)
        #expect(told.withLock { $0 } == 3)
    }

    @Test("a delegate that is set while its task runs receives the later events")
    func lateDelegate() async throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated)
        let task = session.dataTask(with: try url("/delay/0.2"))
        task.resume()
        task.delegate = recorder
        await recorder.end()
        #expect(recorder.events.last == "end")
        // Released after that call.
        await until { task.delegate == nil }
    }

    @Test("a handler's second call is ignored, and a released handler fails its task", arguments: [true, false])
    func handlers(twice: Bool) async throws {
        let delegate = CarelessDelegate(twice)
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try url("/redirect/1"))
        task.resume()
        await until { task.state == .completed }
        #expect((task.error == nil) == twice)
        if !twice { #expect(isWhole(task.error as? URLError, task.originalRequest?.url)) }
        session.invalidateAndCancel()
    }

    /// Answers twice, or not at all.
    private final class CarelessDelegate: NSObject, URLSessionDataDelegate {
        private let twice: Bool
        init(_ twice: Bool) { self.twice = twice }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            guard twice else { return }
            completionHandler(request)
            completionHandler(nil)
        }
    }

    @Test("a download on a full disk fails with its own error and leaves no file")
    func fullDisk() throws {
        let folder = TemporaryFolder()
        try folder.make()
        // Limits the size of written files, in blocks of 512 bytes. Without the signal, writing fails as on a full
        // disk.
        let line = """
            trap '' XFSZ; ulimit -f 100; export XDG_STATE_HOME=\(folder.path)
            exec \(EndedProgram.built("OneRequest")) --background full \(server.url("/range/1000000")) \(folder.path)/result
            """
        let ended = try EndedProgram(shell: line)
        #expect(ended.status == 1 && ended.out.contains("failed: "))
        #expect(ended.out.contains("Code=-3003"))
        let left = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        #expect(!left.contains { $0.hasSuffix(".part") || $0 == "result" })
    }
}
