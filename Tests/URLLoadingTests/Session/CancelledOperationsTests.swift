import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// A program may cancel all operations of its session's delegate queue.
@Suite("Cancelled operations of the delegate queue", .timeLimit(.minutes(5)))
struct CancelledOperationsTests {
    private let queue = OperationQueue()

    /// Cancels the operation that is put on the queue next, before it begins.
    private func cancelNext(_ put: () throws -> Void) async rethrows {
        // The operation that has called the test may not have ended yet.
        await until { queue.operationCount == 0 }
        queue.isSuspended = true
        try put()
        await until { queue.operationCount > 0 }
        queue.cancelAllOperations()
        queue.isSuspended = false
    }

    private final class Ending: NSObject, URLSessionDelegate {
        let isTold: Word<Bool>

        init(_ isTold: Word<Bool>) { self.isTold = isTold }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { isTold.give(true) }
    }

    @Test("the session tells that it is invalid, and releases its delegate")
    func invalid() async {
        let isTold = Word<Bool>()
        weak var delegate: Ending?
        await cancelNext {
            let ending = Ending(isTold)
            delegate = ending
            URLSession(configuration: .isolated, delegate: ending, delegateQueue: queue).finishTasksAndInvalidate()
        }
        #expect(await isTold.wait("the session's end", .seconds(30)) == true)
        #expect(await Sightings<Int>.eventually { delegate == nil })
    }

    enum Call: CaseIterable, Sendable {
        case flush, reset, allTasks, tasksByKind

        func run(_ session: URLSession, _ done: @escaping @Sendable () -> Void) {
            switch self {
            case .flush: session.flush(completionHandler: done)
            case .reset: session.reset(completionHandler: done)
            case .allTasks: session.getAllTasks { _ in done() }
            case .tasksByKind: session.getTasksWithCompletionHandler { _, _, _ in done() }
            }
        }
    }

    @Test("the session's functions call their handlers", arguments: Call.allCases)
    func handlers(call: Call) async {
        let session = URLSession(configuration: .isolated, delegate: nil, delegateQueue: queue)
        let isDone = Word<Bool>()
        await cancelNext { call.run(session) { isDone.give(true) } }
        #expect(await isDone.wait("the handler of \(call)", .seconds(30)) == true)
        session.finishTasksAndInvalidate()
    }

    @Test("a read of a stream task that has ended calls its handler")
    func stream() async throws {
        let server = try RawServer.start([[.finish]])
        let recorder = StreamRecorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: queue)
        let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
        task.resume()
        task.cancel()
        await recorder.milestone()
        let failure = Word<URLError.Code?>()
        await cancelNext {
            task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { failure.give(($2 as? URLError)?.code) }
        }
        #expect(await failure.wait("the handler", .seconds(30)) == .cancelled)
        session.finishTasksAndInvalidate()
    }

    @Test("the delegate is asked about a server's certificate")
    func certificate() async throws {
        let context = try TLSServerContext(TLSServerConfiguration(try TestCertificates.localhost))
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.start([[.handshake(context), .receive(.headEnd), .send(answer)]])
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: queue)
        let task = session.dataTask(with: try url(raw.secureURL("/")))
        await until { recorder.events == ["created"] }
        await cancelNext { task.resume() }
        await recorder.end()
        #expect(recorder.told.error == nil)
        session.finishTasksAndInvalidate()
    }
}
