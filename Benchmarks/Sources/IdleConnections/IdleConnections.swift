import CHeap
import Foundation
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

/// Opens connections to one URL, lets each carry one exchange, parks them all, and prints what they cost in memory that
/// belongs to this process alone: `IdleConnections URL COUNT`.
@main
struct IdleConnections {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = try? HTTPURL(arguments[1]), let count = Int(arguments[2]), count > 1
        else {
            FileHandle.standardError.write(Data("usage: IdleConnections URL COUNT\n".utf8))
            exit(1)
        }
        let loop = try EventLoop()
        let opener = try Opener.bound(url, count, on: loop)
        loop.post { opener.value.start() }
        loop.run()
    }
}

/// One exchange a connection, all started at once, so that none finds another's connection free before its own is dialled.
private final class Opener: ExchangeDelegate {
    /// What every process pays once: first connections, buffers, tables, the runtime's own.
    private static let warmUp = 64

    private let loop: EventLoop
    private let engine: Engine
    private let request: EngineRequest
    private let count: Int
    private var left = 0
    private var failures = 0
    private var base: Memory?

    static func bound(_ url: HTTPURL, _ count: Int, on loop: EventLoop) throws -> LoopBound<Opener> {
        LoopBound(try Opener(url, count, on: loop), on: loop)
    }

    private init(_ url: HTTPURL, _ count: Int, on loop: EventLoop) throws {
        self.loop = loop
        self.count = count
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = count + Opener.warmUp
        configuration.connections = count + Opener.warmUp
        configuration.timeouts.connect = .seconds(120)
        engine = Engine(on: loop, configuration: configuration)
        request = try EngineRequest(origin: url.origin, target: url.target)
    }

    func start() { begin(Opener.warmUp) }

    private func begin(_ number: Int) {
        left = number
        for _ in 0..<number { engine.start(request, delegate: self) }
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        if case .failed(let error) = outcome {
            failures += 1
            if failures == 1 { print("first failure: \(error)") }
        }
        left -= 1
        if left == 0 { settle() }
    }

    /// Dials without a waiter are still under way, and tickets.
    private func settle() {
        let goal = base == nil ? Opener.warmUp : count + Opener.warmUp
        let isSettled = engine.statistics.idle >= goal && engine.statistics.dialling == 0
        guard isSettled || failures > 0 else {
            _ = loop.arm(at: loop.now.advanced(by: .milliseconds(50)), Later { self.settle() })
            return
        }
        _ = loop.arm(at: loop.now.advanced(by: .seconds(2)), Later { self.measure() })
    }

    private func measure() {
        let memory = Memory()
        guard let base else {
            base = memory
            // The connections parked already would be taken: as many exchanges more.
            return begin(count + Opener.warmUp)
        }
        let opened = max(1, engine.statistics.idle - Opener.warmUp)
        let (heap, resident) = ((memory.heap - base.heap) / opened, (memory.resident - base.resident) / opened)
        print("\(engine.statistics.idle) idle, \(failures) failed; each \(heap) bytes allocated, \(resident) resident")
        engine.shutdown { [loop] in loop.stop() }
    }
}

/// What belongs to this process alone, at one moment.
private struct Memory {
    /// Allocated and not freed.
    let heap: Int
    /// Pages, what fragmentation keeps included.
    let resident: Int

    init() {
        heap_trim()
        heap = Int(heap_in_use())
        let text = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        resident =
            text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
            .compactMap { Int($0.split(separator: " ").dropLast().last ?? "") }.reduce(0, +) * 1024
    }
}

private final class Later: TimerHandler {
    private let call: () -> Void
    init(_ call: @escaping () -> Void) { self.call = call }
    func timerFired(_ id: TimerID) { call() }
}
