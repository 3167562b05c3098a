import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

/// Many exchanges, every fault: the books must balance whatever happens.
@Suite("Chaos", .timeLimit(.minutes(5)))
struct ChaosTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test(
        "on connections that close behind an answer or under a request, every GET succeeds and no POST arrives twice",
        .scenario(34)
    )
    func keepAliveRace() async throws {
        var random = SplitMix(seed: 34)
        let scripts = (0..<1_300).map { _ in
            var steps: [RawStep] = []
            for _ in 0...(random.next() % 2) { steps += [.receive(.headEnd), .send(ok)] }
            if random.next() % 2 == 0 { steps.append(.receive(.bytes(1))) }
            return RawScript(steps + [.close])
        }
        let server = try RawServer.start(scripts, otherwise: .answering(ok))
        let engine = try EngineHarness()
        let origin = try origin(server.port)
        let gets = await engine.swarm(1_000) { try! EngineRequest(origin: origin, target: "/\($0)") }
        #expect(gets.failures.isEmpty)
        let posts = await engine.swarm(200) { try! EngineRequest(method: "POST", origin: origin, target: "/\($0)") }
        #expect(posts.outcomes.count == 200)
        for error in posts.failures {
            guard case .closedBeforeResponse = error else {
                Issue.record("\(error)")
                continue
            }
        }
        var seen: [Substring: Int] = [:]
        for connection in server.connections {
            for line in connection.receivedText.split(separator: "\r\n") where line.hasPrefix("POST ") {
                seen[line, default: 0] += 1
            }
        }
        #expect(!seen.isEmpty && seen.values.allSatisfy { $0 == 1 })
    }

    @Test("descriptors used again at once never carry another exchange's bytes", .scenario(39))
    func descriptorReuse() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 8
        configuration.exchangesPerConnection = 1
        configuration.closesAbruptly = true
        let engine = try EngineHarness(configuration)
        let origin = try origin(server.port)
        let result = await engine.swarm(2_000, parallel: 16) {
            try! EngineRequest(origin: origin, target: "/base64/\(Data("\($0)".utf8).base64EncodedString())")
        }
        #expect(result.failures.isEmpty)
        #expect(result.bodies.allSatisfy { $0.value == bytes("\($0.key)") } && result.bodies.count == 2_000)
        #expect(server.connectionsAccepted == 2_000)
    }

    @Test(
        "cancelled, paused and reset at random, each exchange ends once and nothing is left",
        .scenario(40),
        arguments: 0..<2
    )
    func random(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        let whole = bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        let scripts = (0..<2_000).map { _ -> RawScript in
            let cut = Int(random.next() % UInt64(whole.count + 1))
            switch random.next() % 6 {
            case 0: return .cutting(whole, at: cut, ending: .reset)
            case 1: return .cutting(whole, at: cut, ending: .fin)
            case 2: return [.reset]
            case 3: return [.receive(.headEnd), .send(whole), .close]
            default: return .answering(whole)
            }
        }
        let servers = try (0..<2).map { try RawServer.start($0 == 0 ? scripts : [], otherwise: .answering(whole)) }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 4
        configuration.connections = 5
        let engine = try EngineHarness(configuration)
        let origins = try servers.map { try origin($0.port) }
        nonisolated(unsafe) var dice = random
        let result = await engine.swarm(
            1_000,
            parallel: 20,
            meddle: { engine, swarm in
                guard dice.next() % 3 == 0, let id = swarm.running(using: &dice) else { return }
                switch dice.next() % 4 {
                case 0: engine.cancel(id)
                case 1:
                    engine.pause(id)
                    engine.handle.post { $0.resume(id) }
                case 2:
                    engine.pause(id)
                    engine.resume(id)
                default: engine.bodyReady(id)
                }
            },
            { number in try! EngineRequest(origin: origins[number % 3 == 0 ? 1 : 0], target: "/\(number)") }
        )
        #expect(result.outcomes.count == 1_000 && result.outcomes.values.allSatisfy { $0 == 1 })
        let left = await engine.statistics
        #expect(left.busy == 0 && left.waiting == 0)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }
}
