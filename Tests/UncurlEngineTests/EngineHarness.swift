import Dispatch
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// An engine on a loop of its own, driven from tests.
final class EngineHarness: Sendable {
    let group: EventLoopGroup
    let handle: EngineHandle
    let clock: ManualClock?

    var loop: EventLoop { group.loops[0] }

    /// - Parameters:
    ///   - configuration: one that leaves the limit on connects as it is gets a longer one by the real clock: a loaded
    ///     machine may take ten seconds to come round to a test.
    ///   - clock: hands time to the engine's timers; nil lets it run by itself.
    init(
        _ configuration: EngineConfiguration = EngineConfiguration(),
        clock: ManualClock? = nil,
        resolver: Resolver? = nil
    ) throws {
        self.clock = clock
        var configuration = configuration
        if clock == nil, configuration.timeouts.connect == Timeouts().connect {
            configuration.timeouts.connect = .seconds(60)
        }
        // What one test does to the process's budget is no other's concern.
        if configuration.budget === ConnectionBudget.process { configuration.budget = ConnectionBudget() }
        group = try EventLoopGroup(count: 1, name: "engine-test", clock: clock)
        let loop = group.loops[0]
        let made = Mutex<EngineHandle?>(nil)
        let ready = Gate()
        loop.post { [configuration] in
            made.withLock { $0 = Engine(on: loop, configuration: configuration, resolver: resolver).handle }
            ready.open()
        }
        ready.wait()
        handle = made.withLock { $0 }!
    }

    /// An engine that is only let go of keeps its connections, and they their delegates, which in tests hold the engine.
    deinit {
        handle.post { $0.shutdown() }
        group.shutdown()
    }

    /// Runs `body` on the loop and returns what it gives.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (Engine) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            handle.post { continuation.resume(returning: body($0)) }
        }
    }

    /// Starts an exchange and waits for its outcome.
    func run(
        _ request: EngineRequest,
        _ script: @escaping @Sendable (Recorder) -> Void = { _ in }
    ) async -> Recorded {
        let outcome = Word<Recorded>()
        handle.post { engine in
            let recorder = Recorder(engine) { outcome.give($0) }
            script(recorder)
            recorder.start(request)
        }
        return await outcome.wait("the outcome of \(request.method) \(request.target)") ?? .none
    }

    /// Starts an exchange and returns at once; `Pending.outcome()` waits.
    func begin(
        _ request: EngineRequest,
        _ script: @escaping @Sendable (Recorder) -> Void = { _ in }
    ) async -> Pending {
        let pending = Pending(handle: handle)
        await withCheckedContinuation { continuation in
            handle.post { engine in
                let recorder = Recorder(engine) { pending.finish($0) }
                script(recorder)
                recorder.start(request)
                pending.started(recorder.id)
                continuation.resume()
            }
        }
        return pending
    }

    var statistics: EngineStatistics {
        get async { await onLoop { $0.statistics } }
    }

    /// What the engine has left on its loop, and in its table of hosts.
    var remains: Remains {
        get async {
            await onLoop {
                Remains(registrations: $0.loop.registrations, timers: $0.loop.armedTimers, hosts: $0.hosts.count)
            }
        }
    }

    /// Moves the manual clock, by `span` a turn, until something is over: where nobody can know what the sockets have
    /// brought and taken by now, and each byte counts as activity.
    ///
    /// - Parameter holds: time moves only where this is true; elsewhere the peer's own threads have the turn, at the pace
    ///   they really have.
    func passTime(
        by span: Duration,
        where holds: @escaping @Sendable (Engine) -> Bool = { _ in true },
        until isOver: () -> Bool
    ) async {
        let limit = ContinuousClock.now + .seconds(120)
        while !isOver() {
            guard ContinuousClock.now < limit else {
                Issue.record("waited in vain for time to end it")
                return
            }
            guard await onLoop(holds) else { continue }
            clock?.advance(by: span, waking: loop)
            _ = await statistics
        }
    }

    /// Returns when each timer that has run out by now has fired. A turn reads the time, delivers its messages, and then
    /// fires timers: the second message is in a turn that has read the time since this call, and the third in one after
    /// that.
    func passTimers() async { for _ in 0..<3 { _ = await statistics } }

    /// How often the loop wakes up while a server takes a tenth of a second to answer: a handful of times, unless
    /// something keeps it awake. It replaces the loop's faults.
    func wakeUps() async throws -> Int {
        let slow = try RawServer.start(otherwise: [
            .receive(.headEnd), .pause(.milliseconds(100)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ])
        await onLoop { $0.loop.faults = FaultPlan() }
        #expect(await run(try get(slow.port)).succeeded)
        return await onLoop { $0.loop.faults?.callsByKind[.epollWait] ?? 0 }
    }

    /// Waits until the engine says that nothing is left.
    func shutdown(within limit: Duration = .zero) async {
        let isOver = Word<Bool>()
        handle.post { $0.shutdown(within: limit) { isOver.give(true) } }
        _ = await isOver.wait("the end of a shutdown")
    }
}

extension Engine {
    /// From here on a look at an idle socket finds nothing, as if the peer's end or word came right behind each look.
    func lookInVain() {
        loop.faults = FaultPlan(failures: [.init(call: 1, of: .peek, with: .wouldBlock, lasts: true)])
    }
}

/// Registrations and timers on a loop, hosts in an engine's table.
struct Remains: Equatable {
    var registrations = 0
    var timers = 0
    var hosts = 0
}

/// What became of an exchange.
struct Recorded: Sendable {
    var informational: [Int] = []
    var head: ResponseHead?
    var body: [UInt8] = []
    var sent = 0
    var trailers: HTTPFields?
    var error: EngineError?
    var report: ExchangeReport?
    /// One outcome a response of a pipeline.
    var outcomes = 0

    var status: Int? { head?.status }
    var text: String { String(decoding: body, as: UTF8.self) }
    var succeeded: Bool { error == nil }

    /// Of an exchange that makes no end.
    static let none = Recorded(error: .timedOut(.total))
}

extension Recorded: CustomTestStringConvertible {
    var testDescription: String {
        "status \(status ?? 0), \(body.count) bytes, error \(String(describing: error)), \(outcomes) outcomes"
    }
}

/// The delegate of every test: keeps what it hears, and lets a test interfere at each point.
final class Recorder: ExchangeDelegate {
    let engine: Engine
    private(set) var id: ExchangeID!
    var recorded = Recorded()
    var bodyParts: [BodyPart] = []
    var keeper: ConnectionKeeper?
    var onHead: ((Recorder, ResponseHead) -> Void)?
    var onBytes: ((Recorder, Int) -> Void)?
    var onSent: ((Recorder, ExchangeID) -> Void)?
    var onNeedsBody: ((Recorder, UInt64) -> BodyPart)?
    var onFinish: ((Recorder) -> Void)?
    var onUpgrade: ((Recorder, UpgradedConnection) -> Void)?
    private let done: (Recorded) -> Void

    init(_ engine: Engine, done: @escaping (Recorded) -> Void) {
        self.engine = engine
        self.done = done
    }

    /// Stops the delivery with the first bytes, and counts what was delivered.
    func pauseAtFirstBytes(counting received: Counter) {
        onBytes = { recorder, count in
            if received.value == 0 { recorder.engine.pause(recorder.id) }
            received.add(count)
        }
    }

    func start(_ request: EngineRequest) { id = engine.start(request, delegate: self, keeper: keeper) }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        if head.status < 200 { recorded.informational.append(head.status) } else { recorded.head = head }
        onHead?(self, head)
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { recorded.body += $0 }
        onBytes?(self, bytes.count)
    }

    func exchange(_ id: ExchangeID, didSend count: Int) {
        recorded.sent += count
        onSent?(self, id)
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart {
        if let onNeedsBody { return onNeedsBody(self, offset) }
        return bodyParts.isEmpty ? .end(trailers: nil) : bodyParts.removeFirst()
    }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        if let onUpgrade { onUpgrade(self, connection) } else { connection.close() }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        recorded.outcomes += 1
        recorded.report = report
        switch outcome {
        case .completed(let trailers): recorded.trailers = trailers
        case .failed(let error): recorded.error = error
        }
        onFinish?(self)
        if recorded.error != nil || report.remaining == 0 { done(recorded) }
    }
}

/// An exchange under way.
final class Pending: Sendable {
    private let id = Mutex<ExchangeID?>(nil)
    private let recorded = Word<Recorded>()
    private let handle: EngineHandle

    init(handle: EngineHandle) { self.handle = handle }

    func started(_ id: ExchangeID) { self.id.withLock { $0 = id } }

    func finish(_ recorded: Recorded) { self.recorded.give(recorded) }

    var isFinished: Bool { recorded.value != nil }

    /// Whether the exchange's own rate keeps it from reading.
    func isReadingHeld(_ engine: Engine) -> Bool {
        id.withLock { $0 }.flatMap(engine.exchange)?.throttle?.isReadingHeld == true
    }

    /// How much of the request has left; nil once the exchange is over.
    func bytesSent(_ engine: Engine) -> UInt64? {
        id.withLock { $0 }.flatMap(engine.exchange)?.report.bytesSent
    }

    func cancel() { post { $0.cancel($1) } }

    func hold(_ isHeld: Bool) { post { $0.hold(requestOf: $1, isHeld) } }

    func pause() { post { $0.pause($1) } }

    func resume() { post { $0.resume($1) } }

    func rest(for reason: Rest) { post { $0.rest($1, for: reason) } }

    func bodyReady() { post { $0.bodyReady($1) } }

    private func post(_ call: @escaping @Sendable (Engine, ExchangeID) -> Void) {
        guard let id = id.withLock({ $0 }) else { return }
        handle.post { call($0, id) }
    }

    func outcome() async -> Recorded { await recorded.wait("an exchange's outcome") ?? .none }
}

func origin(_ port: UInt16) throws -> Origin { try Origin(host: "127.0.0.1", port: port) }

func get(_ port: UInt16, _ target: String = "/") throws -> EngineRequest {
    try EngineRequest(origin: origin(port), target: target)
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
