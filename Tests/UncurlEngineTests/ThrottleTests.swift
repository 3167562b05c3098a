import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

@Suite("Rates of exchanges", .timeLimit(.minutes(5)))
struct ThrottleTests {
    private static let rate = TransferRate(bytesPerSecond: 100_000, burst: 5_000)
    private static let size = 300_000
    private static let content = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }

    private final class Pieces: BlockingReader {
        private let left = Mutex(ThrottleTests.size)
        func read(atMost count: Int) -> [UInt8] {
            left.withLock { left in
                let step = min(left, count, 7_000)
                defer { left -= step }
                return Array(ThrottleTests.content[(ThrottleTests.size - left)..<(ThrottleTests.size - left + step)])
            }
        }
    }

    private static func bodies(_ file: TemporaryFile) throws -> [Content] {
        let file = try FileBody(path: file.path)
        let half = Content.bytes(Array(content[..<100]))
        let threaded = ThreadedBody(length: nil) { Pieces() }
        return [
            .bytes(content), .file(file), .threaded(threaded),
            .parts([half, .file(file), half]), .parts([half, .file(file), .threaded(threaded)]),
        ]
    }

    /// Runs a request under a clock that moves as told, and checks at each step that no more has moved than may have.
    private func run(
        _ request: EngineRequest,
        _ configuration: EngineConfiguration,
        slack: Int
    ) async throws -> Recorded {
        let clock = ManualClock()
        let engine = try EngineHarness(configuration, clock: clock)
        let start = clock.now
        let pending = await engine.begin(request) { recorder in
            let loop = recorder.engine.loop
            func check(_ count: Int) {
                let seconds = Double(loop.now.nanoseconds(since: start)) / 1e9
                let most = Double(Self.rate.burst) + Double(Self.rate.bytesPerSecond) * seconds
                #expect(Double(count) <= most + Double(slack))
            }
            recorder.onSent = { recorder, _ in
                if request.options.sendingRate != nil { check(recorder.recorded.sent) }
            }
            recorder.onBytes = { recorder, _ in
                if request.options.receivingRate != nil { check(recorder.recorded.body.count) }
            }
        }
        let isReceiving = request.options.sendingRate == nil
        await engine.passTime(
            by: .milliseconds(10),
            where: { !isReceiving || pending.isReadingHeld($0) },
            until: { pending.isFinished }
        )
        return await pending.outcome()
    }

    @Test("every kind of content keeps to its rate, arrives whole, and takes as long as it must and little longer")
    func sending() async throws {
        let file = TemporaryFile(Self.content)
        let server = try TestServer.start()
        defer { server.stop() }
        for body in try Self.bodies(file) {
            var options = EngineRequest.Options()
            options.sendingRate = Self.rate
            let request = try EngineRequest(
                method: "POST",
                origin: origin(server.port),
                target: "/upload",
                body: body,
                options: options
            )
            let result = try await run(request, EngineConfiguration(), slack: 0)
            #expect(result.succeeded, "\(String(describing: result.error))")
            #expect(result.text.contains("\(result.sent)") && result.sent >= Self.size)
            let timings = try #require(result.report?.timings)
            let taken = try #require(timings.requestEnd).nanoseconds(since: try #require(timings.requestStart))
            #expect(taken >= 2_900_000_000)
            // A source on a thread may be behind the clock's steps.
            if body.parts.contains(where: \.isThreaded) { continue }
            #expect(taken <= 4_000_000_000)
        }
    }

    @Test("content over TLS keeps to its rate")
    func secure() async throws {
        let identity = try TestCertificates.identity(["DNS:localhost"])
        var tls = TLSConfiguration()
        tls.roots = .pem(identity.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(tls)
        let server = try TestServer.start(
            tls: try TLSServerContext(TLSServerConfiguration(certificate: .init(identity)))
        )
        defer { server.stop() }
        let file = TemporaryFile(Self.content)
        var options = EngineRequest.Options()
        options.sendingRate = Self.rate
        options.receivingRate = Self.rate
        let request = try EngineRequest(
            method: "POST",
            origin: try Origin(scheme: .https, host: "localhost", port: server.port),
            target: "/upload",
            body: .file(try FileBody(path: file.path)),
            options: options
        )
        let result = try await run(request, configuration, slack: 0)
        #expect(result.succeeded && result.sent == Self.size)
    }

    @Test("an answer is read at its rate and not beyond it, and idle limits stand still meanwhile")
    func receiving() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var options = EngineRequest.Options()
        options.receivingRate = Self.rate
        // Shorter than the whole takes.
        options.timeouts = Timeouts(connect: nil, idle: .milliseconds(500))
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/1000000", options: options)
        let result = try await run(request, EngineConfiguration(), slack: 0)
        #expect(result.succeeded && result.body.count == 1_000_000, "\(String(describing: result.error))")
    }

    @Test("a request without content is sent at its rate, too")
    func longHead() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let start = clock.now
        var fields = HTTPFields()
        try fields.append("X-Filler", String(repeating: "x", count: 20_000))
        var options = EngineRequest.Options()
        options.sendingRate = Self.rate
        let request = try EngineRequest(origin: origin(server.port), fields: fields, options: options)
        let pending = await engine.begin(request)
        await engine.passTime(
            by: .milliseconds(10),
            where: { engine in
                let seconds = Double(engine.loop.now.nanoseconds(since: start)) / 1e9
                #expect(Double(pending.bytesSent(engine) ?? 0) <= 5_000 + 100_000 * seconds)
                return true
            },
            until: { pending.isFinished }
        )
        #expect(await pending.outcome().succeeded)
        #expect(clock.now.nanoseconds(since: start) >= 150_000_000)
    }

    @Test("exchanges with equal rates that follow each other on a connection keep to them together")
    func together() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let start = clock.now
        var options = EngineRequest.Options()
        options.receivingRate = Self.rate
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/3000", options: options)
        for count in 1...4 {
            let pending = await engine.begin(request)
            await engine.passTime(
                by: .milliseconds(10),
                where: { pending.isReadingHeld($0) },
                until: { pending.isFinished }
            )
            #expect(await pending.outcome().body.count == 3_000)
            #expect(clock.now.nanoseconds(since: start) >= Int64(count * 3_000 - 5_000) * 10_000)
        }
    }

    @Test("an exchange that begins in the outcome of another is not charged for that one's bytes at another rate")
    func apart() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try EngineHarness(clock: ManualClock())
        var options = EngineRequest.Options()
        options.receivingRate = TransferRate(bytesPerSecond: 1, burst: 5_000)
        let first = try EngineRequest(origin: origin(server.port), target: "/bytes/3000", options: options)
        options.receivingRate = TransferRate(bytesPerSecond: 1, burst: 1_000)
        let second = try EngineRequest(origin: origin(server.port), target: "/bytes/1", options: options)
        let (outcome, isHeld) = (Word<Recorded>(), Word<Bool>())
        _ = await engine.run(first) {
            $0.onFinish = { recorder in
                let next = Recorder(recorder.engine) { outcome.give($0) }
                next.start(second)
                let id = next.id
                recorder.engine.handle.post { engine in
                    isHeld.give(id.flatMap(engine.exchange)?.throttle?.isReadingHeld == true)
                }
            }
        }
        // Time stands still: an exchange that is held stays so.
        #expect(await isHeld.wait("a look at the second exchange") == false)
        #expect(await outcome.wait("the second exchange")?.body.count == 1)
    }

    @Test("a throttled exchange that is cancelled, or paused and resumed, leaves nothing behind")
    func cancelled() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        var options = EngineRequest.Options()
        // The burst lets the head through and some of the content.
        options.receivingRate = TransferRate(bytesPerSecond: 10, burst: 1_000)
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/5000000", options: options)
        let received = Counter()
        let pending = await engine.begin(request) { $0.onBytes = { received.add($1) } }
        await received.reaches(1)
        pending.pause()
        await engine.passTime(by: .seconds(10)) { clock.now.nanoseconds > (1 << 40) + 200_000_000_000 }
        pending.resume()
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        #expect(await engine.statistics == EngineStatistics())
    }
}

extension Content {
    fileprivate var isThreaded: Bool { if case .threaded = self { true } else { false } }
}
