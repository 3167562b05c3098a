import Synchronization
import TestSupport
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlWebSocket

/// Hears a WebSocket, and tells the test's thread.
final class Ear: WebSocketConnectionDelegate, Sendable {
    struct Heard {
        var messages: [WebSocketMessage] = []
        var pongs: [[UInt8]] = []
        var endings: [WebSocketEnding] = []
    }

    private let state = Mutex(Heard())
    let messages = Counter()
    let pongs = Counter()
    let ends = Counter()
    private let onMessage: @Sendable (WebSocketConnection, WebSocketMessage) -> Void

    init(onMessage: @escaping @Sendable (WebSocketConnection, WebSocketMessage) -> Void = { _, _ in }) {
        self.onMessage = onMessage
    }

    var heard: Heard { state.withLock { $0 } }

    func webSocket(_ connection: WebSocketConnection, didReceive message: WebSocketMessage) {
        state.withLock { $0.messages.append(message) }
        onMessage(connection, message)
        messages.add()
    }

    func webSocket(_ connection: WebSocketConnection, didReceivePong payload: [UInt8]) {
        state.withLock { $0.pongs.append(payload) }
        pongs.add()
    }

    func webSocket(_ connection: WebSocketConnection, didEnd ending: WebSocketEnding) {
        state.withLock { $0.endings.append(ending) }
        ends.add()
    }
}

/// An open WebSocket of a test.
final class Talk: Sendable {
    struct Refused: Error { let result: Recorded }

    let engine: EngineHarness
    let ear: Ear
    let agreement: Agreement
    private let bound: LoopBound<WebSocketConnection>

    private init(_ engine: EngineHarness, _ ear: Ear, _ agreement: Agreement, _ bound: LoopBound<WebSocketConnection>) {
        (self.engine, self.ear, self.agreement, self.bound) = (engine, ear, agreement, bound)
    }

    /// A connection that a test left open keeps its delegate, which may hold the test's objects: it ends before the
    /// engine's loop does.
    deinit { engine.handle.post { [bound] _ in bound.value.abort() } }

    /// Shakes hands, and starts to listen.
    static func open(
        _ engine: EngineHarness,
        _ url: String,
        _ handshake: ClientHandshake,
        _ ear: Ear = Ear(),
        _ options: WebSocketConnection.Options = .init()
    ) async throws -> Talk {
        let made = Mutex<(Agreement, LoopBound<WebSocketConnection>)?>(nil)
        let url = try HTTPURL(webSocket: url)
        let request = try EngineRequest(webSocket: handshake, origin: url.origin, target: url.target)
        let result = await engine.run(request) { recorder in
            var agreement: Agreement?
            recorder.onHead = { _, head in
                if head.status == 101 { agreement = try? handshake.check(head) }
            }
            recorder.onUpgrade = { _, upgraded in
                guard let agreement else { return upgraded.close() }
                let connection = WebSocketConnection(upgraded, agreement, options: options, delegate: ear)
                let bound = LoopBound(connection, on: upgraded.loop)
                made.withLock { $0 = (agreement, bound) }
                connection.start()
            }
        }
        guard let (agreement, bound) = made.withLock({ $0 }) else { throw Refused(result: result) }
        return Talk(engine, ear, agreement, bound)
    }

    func on<Value: Sendable>(_ body: @escaping @Sendable (WebSocketConnection) -> Value) async -> Value {
        let bound = bound
        return await engine.onLoop { _ in body(bound.value) }
    }

    func send(_ message: WebSocketMessage) async { await on { $0.send(message) } }

    /// Waits until nothing of it is left on the loop.
    func closes(_ code: UInt16 = 1000) async {
        await on { $0.close(CloseReason(code) ?? .none) }
        await ear.ends.reaches(1)
    }
}
