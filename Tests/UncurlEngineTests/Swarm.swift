import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlHTTP1

/// Many exchanges on one engine, so many at a time, the next begun from within the outcome of one before.
final class Swarm: ExchangeDelegate {
    /// What became of all, by number.
    struct Result: Sendable {
        var outcomes: [Int: Int] = [:]
        var bodies: [Int: [UInt8]] = [:]
        var failures: [EngineError] = []
    }

    private let engine: Engine
    private let total: Int
    private let request: (Int) -> EngineRequest
    private let meddle: (Swarm) -> Void
    private let done: (Result) -> Void
    private var numbers: [ExchangeID: Int] = [:]
    private var begun = 0
    private var ended = 0
    private var result = Result()

    /// - Parameter meddle: called in each call, after the book has been kept; may cancel, pause and start.
    init(
        _ engine: Engine,
        total: Int,
        request: @escaping (Int) -> EngineRequest,
        meddle: @escaping (Swarm) -> Void = { _ in },
        done: @escaping (Result) -> Void
    ) {
        self.engine = engine
        self.total = total
        self.request = request
        self.meddle = meddle
        self.done = done
    }

    func start(_ parallel: Int) {
        for _ in 0..<min(parallel, total) { startNext() }
    }

    /// Any that runs, or none.
    func running(using random: inout SplitMix) -> ExchangeID? {
        let ids = numbers.keys.sorted { numbers[$0]! < numbers[$1]! }
        return ids.randomElement(using: &random)
    }

    private func startNext() {
        guard begun < total else { return }
        let number = begun
        begun += 1
        numbers[engine.start(request(number), delegate: self)] = number
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) { meddle(self) }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        guard let number = numbers[id] else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe result.bodies[number, default: []] += $0 }
        meddle(self)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        guard let number = numbers.removeValue(forKey: id) else {
            Issue.record("an outcome for nobody, or before its start had returned")
            return
        }
        result.outcomes[number, default: 0] += 1
        if case .failed(let error) = outcome { result.failures.append(error) }
        ended += 1
        // Asked before meddling, which may end others from within this call.
        let isLast = ended == total
        startNext()
        meddle(self)
        if isLast { done(result) }
    }
}

extension EngineHarness {
    /// Runs a swarm to its end.
    func swarm(
        _ total: Int,
        parallel: Int = 1,
        meddle: @escaping @Sendable (Engine, Swarm) -> Void = { _, _ in },
        _ request: @escaping @Sendable (Int) -> EngineRequest
    ) async -> Swarm.Result {
        let result = Word<Swarm.Result>()
        handle.post { engine in
            let swarm = Swarm(engine, total: total, request: request, meddle: { meddle(engine, $0) }) {
                result.give($0)
            }
            swarm.start(parallel)
        }
        return await result.wait("a swarm's end") ?? Swarm.Result()
    }
}
