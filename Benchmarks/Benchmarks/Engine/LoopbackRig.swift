import CMallocCounter
import Dispatch
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTestServer

/// The test server on one loop, an engine on another, and a closed loop of requests between them.
final class LoopbackRig: Sendable {
    struct Cost {
        var mallocs = 0
        var cpu = 0
    }

    private let server: TestServer
    private let group: EventLoopGroup
    private let request: EngineRequest
    private let connections: Int
    private let handle: EngineHandle

    init(path: String, connections: Int) throws {
        server = try TestServer.start()
        group = try EventLoopGroup(count: 1, name: "engine")
        self.connections = connections
        request = try EngineRequest(origin: Origin(host: "127.0.0.1", port: server.port), target: path)
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = connections
        let loop = group.loops[0]
        nonisolated(unsafe) var made: EngineHandle?
        let ready = DispatchSemaphore(value: 0)
        loop.post { [configuration] in
            made = Engine(on: loop, configuration: configuration).handle
            ready.signal()
        }
        ready.wait()
        handle = made!
    }

    /// Runs so many requests, as many at once as there are connections; what they cost the engine's thread.
    @discardableResult
    func run(requests: Int) -> Cost {
        nonisolated(unsafe) var cost = Cost()
        let done = DispatchSemaphore(value: 0)
        let (request, connections) = (request, connections)
        handle.post { engine in
            let mallocs = uncurl_thread_mallocs()
            let cpu = uncurl_thread_cpu()
            let loop = ClosedLoop(engine, request, requests) {
                cost = Cost(mallocs: Int(uncurl_thread_mallocs() - mallocs), cpu: Int(uncurl_thread_cpu() - cpu))
                done.signal()
            }
            for _ in 0..<min(connections, requests) { loop.startOne() }
        }
        done.wait()
        return cost
    }

    func stop() {
        group.shutdown()
        server.stop()
    }
}

/// Starts the next request as soon as one is answered.
private final class ClosedLoop: ExchangeDelegate {
    private let engine: Engine
    private let request: EngineRequest
    private var toStart: Int
    private var toFinish: Int
    private let done: () -> Void

    init(_ engine: Engine, _ request: EngineRequest, _ count: Int, done: @escaping () -> Void) {
        self.engine = engine
        self.request = request
        toStart = count
        toFinish = count
        self.done = done
    }

    func startOne() {
        guard toStart > 0 else { return }
        toStart -= 1
        engine.start(request, delegate: self)
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        if case .failed(let error) = outcome { fatalError("the benchmark's request failed: \(error)") }
        toFinish -= 1
        if toFinish == 0 { done() } else { startOne() }
    }
}
