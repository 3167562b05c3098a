import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// What holds whatever happens to a task: everybody is answered once, and nothing is left.
@Suite("WebSocket loads", .timeLimit(.minutes(5)))
struct WebSocketLoadTests {
    private func url(_ server: TestServer) -> URL { URL(string: "ws" + server.url("/websocket").dropFirst(4))! }

    /// Counts what was asked and what was answered.
    private final class Tally: Sendable {
        private struct State {
            var asked = 0
            var answered = 0
            var good = 0
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = Mutex(State())

        var good: Int { state.withLock { $0.good } }
        var isEven: Bool { state.withLock { $0.asked == $0.answered } }

        func ask() { state.withLock { $0.asked += 1 } }

        func answer(_ isGood: Bool) {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.answered += 1
                if isGood { state.good += 1 }
                guard state.answered == state.asked else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        func allAnswered() async {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.answered != state.asked { state.waiter = continuation }
                    return state.answered == state.asked
                }
                if isDone { continuation.resume() }
            }
        }
    }

    @Test("each call is answered once, whatever ends the task, and at any time", arguments: 0..<6)
    func once(seed: Int) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var random = SplitMix(seed: UInt64(seed))
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let tally = Tally()
        for number in 0..<12 {
            let task = session.webSocketTask(with: url(server))
            let end = random.below(80)
            if number % 4 == 0 {
                // Some are known to be open when it begins.
                task.resume()
                tally.ask()
                try await task.sendPing()
                tally.answer(true)
            }
            for step in 0..<80 {
                if step == end {
                    switch random.below(4) {
                    case 0: task.cancel()
                    case 1: task.cancel(with: .normalClosure, reason: nil)
                    case 2: task.suspend()
                    default: break
                    }
                }
                if step == random.below(10) { task.resume() }
                tally.ask()
                switch random.below(4) {
                case 0:
                    let data = Data(repeating: UInt8(step), count: random.pick([0, 10, 70_000]))
                    task.send(.data(data)) { tally.answer($0 == nil) }
                case 1:
                    task.sendPing { tally.answer($0 == nil) }
                case 2:
                    let waiting = Task {
                        do {
                            _ = try await task.receive()
                            tally.answer(true)
                        } catch {
                            tally.answer(false)
                        }
                    }
                    if random.below(3) == 0 { waiting.cancel() }
                default:
                    task.receive { result in
                        if case .success = result { tally.answer(true) } else { tally.answer(false) }
                    }
                }
                if random.below(8) == 0 { await Task.yield() }
            }
            task.resume()
        }
        session.invalidateAndCancel()
        await tally.allAnswered()
        #expect(tally.good > 0 && tally.isEven)
    }

    @Test("a limit that is set while the WebSocket opens applies to its first message")
    func limitWhileOpening() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let opening = Mutex<URLSessionWebSocketTask?>(nil)
        // The delegate's interests are read between the handshake and the moment when the load takes the task's calls.
        let delegate = InterestedDelegate {
            let task = opening.withLock { $0?.response == nil ? nil : $0.take() }
            task?.maximumMessageSize = 10
            return .none
        }
        let session = URLSession(configuration: .isolated, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: url(server))
        opening.withLock { $0 = task }
        task.resume()
        try await task.send(.string("more than ten octets"))
        let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
        #expect(error?.code == .dataLengthExceedsMaximum && opening.withLock { $0 == nil })
    }

    @Test("an invalidated session and its WebSockets release each other")
    func released() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        weak var weakTask: URLSessionWebSocketTask?
        weak var weakSession: URLSession?
        let ended = Tally()
        func use() async throws {
            let session = URLSession(configuration: .isolated)
            let task = session.webSocketTask(with: url(server))
            (weakTask, weakSession) = (task, session)
            task.resume()
            try await task.sendPing()
            ended.ask()
            task.receive { _ in ended.answer(true) }
            session.invalidateAndCancel()
        }
        try await use()
        await ended.allAnswered()
        // The last letters between loop and queue are on their way.
        await until { weakTask == nil && weakSession == nil }
    }

    @Test("a suspended task neither receives nor sends until it is resumed")
    func suspended() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = URLSession(configuration: .isolated)
        let (task, other) = (session.webSocketTask(with: url(server)), session.webSocketTask(with: url(server)))
        task.resume()
        other.resume()
        try await task.sendPing()
        task.suspend()
        let (heard, said) = (Tally(), Tally())
        for _ in 0..<2 {
            heard.ask()
            task.receive { _ in heard.answer(true) }
        }
        for word in ["late", "later"] {
            said.ask()
            task.send(.string(word)) { said.answer($0 == nil) }
        }
        // Each goes by the same loop, and there and back: what the suspended task may do is done by then.
        for _ in 0..<50 {
            try await other.send(.string("x"))
            _ = try await other.receive()
        }
        #expect(heard.good == 0 && said.good == 0)
        #expect(task.countOfBytesSent == 0 && task.countOfBytesReceived == 0)
        task.resume()
        await heard.allAnswered()
        await said.allAnswered()
        #expect(said.good == 2 && task.countOfBytesSent == 9)
        session.invalidateAndCancel()
    }

    @Test("a suspended task that is cancelled with a close code still sends its messages and its close frame")
    func closedWhileSuspended() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.webSocketTask(with: url(server))
        task.resume()
        try await task.sendPing()
        task.suspend()
        let said = Tally()
        said.ask()
        task.send(.string("last")) { said.answer($0 == nil) }
        task.cancel(with: .goingAway, reason: nil)
        await said.allAnswered()
        await recorder.end()
        #expect(said.good == 1 && task.state == .completed && task.countOfBytesSent == 4)
        session.finishTasksAndInvalidate()
    }
}
