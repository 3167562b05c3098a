import Foundation
import TestSupport
import Testing

@testable import URLLoading

/// When the end of a WebSocket is told: behind the messages.
@Suite("WebSocket ends", .serialized, .timeLimit(.minutes(5)))
struct WebSocketEndTests {
    private func url(_ peer: Peer, _ path: String) -> URL { URL(string: "ws://127.0.0.1:\(peer.port)\(path)")! }

    private func heard(_ peer: Peer) async throws {
        let asking = URLSession(configuration: .isolated).webSocketTask(with: url(peer, "/tell"))
        asking.resume()
        _ = try await asking.receive()
        asking.cancel()
    }

    /// A WebSocket whose server sends three messages and closes, and has heard our close when ``heard(_:)`` returns; the delegate queue
    /// stands still.
    private func farewell(
        _ recorder: Recorder,
        _ queue: OperationQueue,
        _ peer: Peer,
        asking ask: (URLSessionWebSocketTask) -> Void
    ) async throws -> URLSessionWebSocketTask {
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: queue)
        let task = session.webSocketTask(with: url(peer, "/farewell/3"))
        task.resume()
        ask(task)
        try await task.send(.string("go"))
        return task
    }

    @Test("messages that came before the server's close are told before it, however far behind the program's queue is")
    func messagesFirst() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let (recorder, queue) = (Recorder(), OperationQueue())
        @Sendable func next(_ task: URLSessionWebSocketTask) {
            task.receive { result in
                guard case .success(.string(let text)) = result else { return recorder.note("no more") }
                recorder.note(text)
                next(task)
            }
        }
        _ = try await farewell(recorder, queue, peer) { task in
            task.channel.change { $0.patience = .milliseconds(1) }
            next(task)
        }
        try await heard(peer)
        queue.isSuspended = false
        await recorder.end()
        let told = recorder.events.filter { !["created", "open -", "metrics"].contains($0) }
        #expect(told == ["0", "1", "2", "close 1001 bye", "no more", "end"])
    }

    @Test(
        "an end is told even if messages are left that are not asked for, and they can still be taken",
        arguments: [true, false]
    )
    func messagesLeft(isRead: Bool) async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let (recorder, queue) = (Recorder(), OperationQueue())
        let task = try await farewell(recorder, queue, peer) { task in
            task.channel.change { $0.patience = .milliseconds(1) }
            if isRead { task.receive { _ in recorder.note("0") } }
        }
        try await heard(peer)
        queue.isSuspended = false
        await recorder.end()
        #expect(recorder.events.suffix(3) == ["close 1001 bye", "metrics", "end"])
        var left: [String] = []
        while case .string(let text)? = try? await task.receive() { left.append(text) }
        #expect(left == (isRead ? ["1", "2"] : ["0", "1", "2"]))
    }

    @Test("a delegate that closes while messages are left is told of the end at once")
    func closedMeanwhile() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let (recorder, queue) = (Recorder(), OperationQueue())
        let task = try await farewell(recorder, queue, peer) { $0.receive { _ in recorder.note("0") } }
        try await heard(peer)
        task.cancel(with: .normalClosure, reason: nil)
        queue.isSuspended = false
        await recorder.end()
        #expect(recorder.events.suffix(3) == ["close 1001 bye", "metrics", "end"])
    }

    @Test("a WebSocket that is cancelled while the server has not answered its close frame ends at once")
    func cancelledWhileClosing() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        // It reads nothing.
        let task = session.webSocketTask(with: url(peer, "/quiet"))
        task.resume()
        await until { recorder.events.contains("open -") }
        task.cancel(with: .normalClosure, reason: nil)
        task.cancel()
        await recorder.end()
        // Five seconds later it would have the code of its own close frame.
        #expect((task.error as? URLError)?.code == .cancelled && task.closeCode == .invalid)
    }

    @Test("a user's close code and reason stay when the server ends TCP without a close frame")
    func ownReason() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.webSocketTask(with: url(peer, "/vanish"))
        task.resume()
        _ = try await task.receive()
        task.cancel(with: .goingAway, reason: Data("enough".utf8))
        await recorder.end()
        #expect(task.closeCode == .goingAway && task.closeReason == Data("enough".utf8))
        #expect((task.error as? URLError)?.code == .cancelled)
    }
}
