import Glibc
import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

@Suite("Bodies from files", .ownThread, .timeLimit(.minutes(5)))
struct FileBodyTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private static let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }

    private func put(_ port: UInt16, _ body: Content) throws -> EngineRequest {
        try EngineRequest(method: "PUT", origin: origin(port), body: body)
    }

    private func taking(_ count: Int) throws -> RawServer {
        try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(count)), .send(ok), .startOver])
    }

    private func content(_ server: RawServer, _ connection: Int = 0) -> [UInt8] {
        let received = server.connections[connection].received
        let end = received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) } ?? 0
        return Array(received[(end + 4)...])
    }

    @Test("a file arrives as it is, by name or descriptor, whole or in part")
    func whole() async throws {
        let file = TemporaryFile(Self.large)
        let number = open(file.path, O_RDONLY)
        defer { close(number) }
        let ranges: [Range<UInt64>?] = [nil, 1_000_001..<2_500_000, 7..<1_000, 5..<5]
        for range in ranges {
            for body in [try FileBody(path: file.path, range: range), try FileBody(descriptor: number, range: range)] {
                let bounds = range.map { Int($0.lowerBound)..<Int($0.upperBound) } ?? 0..<Self.large.count
                let server = try taking(bounds.count)
                let engine = try EngineHarness()
                let result = await engine.run(try put(server.port, .file(body)))
                #expect(result.text == "ok" && result.sent == bounds.count)
                #expect(result.report?.contentSent == UInt64(bounds.count))
                #expect(server.connections[0].receivedText.contains("\r\nContent-Length: \(bounds.count)\r\n"))
                #expect(content(server) == Array(Self.large[bounds]))
                // Not idle == 1: an answer that is here before the loop has looked after the last slice ends its connection.
                #expect(await engine.statistics.busy == 0)
            }
        }
    }

    @Test("parts arrive as one, in their order, under the sum of their lengths")
    func parts() async throws {
        let file = TemporaryFile(Self.large)
        let body = Content.parts([
            .bytes(bytes("--x\r\n")), .file(try FileBody(path: file.path, range: 0..<100_000)), .bytes([]),
            .file(try FileBody(path: file.path, range: 9..<9)), .bytes(bytes("\r\n--x\r\n")),
            .file(try FileBody(path: file.path, range: 10..<20)), .bytes(bytes("\r\n--x--")),
        ])
        let whole =
            bytes("--x\r\n") + Self.large[..<100_000] + bytes("\r\n--x\r\n") + Self.large[10..<20] + bytes("\r\n--x--")
        #expect(body.length == UInt64(whole.count))
        let server = try taking(whole.count)
        let result = await (try EngineHarness()).run(try put(server.port, body))
        #expect(result.text == "ok" && result.sent == whole.count)
        #expect(content(server) == whole)
    }

    @Test("a socket that takes little, and a kernel that gives no pages away, change nothing on the wire")
    func faults() async throws {
        let file = TemporaryFile(Self.large)
        let body = try FileBody(path: file.path, range: 0..<150_000)
        var plans: [@Sendable () -> FaultPlan] = []
        plans.append {
            let plan = FaultPlan(seed: 7)
            (plan.blockPercent, plan.interruptPercent, plan.maximumBytes) = (40, 20, 777)
            return plan
        }
        for code in [EINVAL, ENOSYS, EIO] {
            plans.append { FaultPlan(failures: [.init(call: 1, of: .sendFile, with: Errno(code: code), lasts: true)]) }
        }
        for plan in plans {
            let server = try taking(150_000)
            let engine = try EngineHarness()
            _ = await engine.onLoop { $0.loop.faults = plan() }
            let result = await engine.run(try put(server.port, .file(body)))
            #expect(result.text == "ok" && result.sent == 150_000)
            #expect(content(server) == Array(Self.large[..<150_000]))
        }
    }

    @Test("a fault of the file is told as its own, and the end of the connection as the network's")
    func faultyFile() async throws {
        let file = TemporaryFile(Self.large)
        let fault = Errno(code: EIO)
        for (errno, error) in [(fault, EngineError.bodyUnreadable(fault)), (.timedOut, .sendFailed(.timedOut))] {
            let server = try RawServer.start(otherwise: .silent)
            let engine = try EngineHarness()
            let request = try put(server.port, .file(try FileBody(path: file.path)))
            _ = await engine.onLoop {
                $0.loop.faults = FaultPlan(failures: [
                    .init(call: 1, of: .sendFile, with: errno), .init(call: 1, of: .readFile, with: fault, lasts: true),
                ])
            }
            #expect(await engine.run(request).error == error)
        }
    }

    @Test("a file that becomes shorter meanwhile fails the upload, and the server sees that it was cut")
    func shrinking() async throws {
        let file = TemporaryFile(Self.large)
        let server = try RawServer.start(otherwise: .silent)
        let engine = try EngineHarness()
        let request = try put(server.port, .file(try FileBody(path: file.path)))
        let result = await engine.run(request) { $0.onSent = { _, _ in file.truncate(to: 10) } }
        #expect(result.error == .bodyLengthMismatch(declared: 3_000_000, given: UInt64(result.sent)))
        #expect(try server.waitForEnd(of: 0).sawReset)
        // Shorter before it is opened again: nothing of it is there to begin with.
        let again = await engine.run(request)
        #expect(again.error == .bodyLengthMismatch(declared: 3_000_000, given: 10))
    }

    @Test("a file that grows meanwhile is sent up to the length it had")
    func growing() async throws {
        let file = TemporaryFile(Self.large)
        let server = try taking(Self.large.count)
        let engine = try EngineHarness()
        let request = try put(server.port, .file(try FileBody(path: file.path)))
        let result = await engine.run(request) { $0.onSent = { _, _ in file.append([1, 2, 3]) } }
        #expect(result.text == "ok" && content(server) == Self.large)
        #expect(await engine.statistics.idle == 1)
    }

    @Test("a file that is gone, or another by now, is not sent")
    func gone() async throws {
        let file = TemporaryFile(bytes("before"))
        let server = try RawServer.start(otherwise: .silent)
        let engine = try EngineHarness()
        let request = try put(server.port, .file(try FileBody(path: file.path)))
        file.replace(with: bytes("after!"))
        #expect(await engine.run(request).error == .bodyFileReplaced)
        file.remove()
        #expect(await engine.run(request).error == .bodyUnreadable(.noSuchFile))
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(await engine.run(request).error == .bodyFileReplaced)
        for index in 0..<3 { #expect(try server.waitForEnd(of: index).receivedText.hasSuffix("\r\n\r\n")) }
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("what is no file, or no part of one, makes no body")
    func problems() throws {
        let file = TemporaryFile(bytes("abc"))
        #expect(throws: FileBody.Problem.notRegular) { try FileBody(path: "/tmp") }
        #expect(throws: FileBody.Problem.unreadable(.noSuchFile)) { try FileBody(path: file.path + "x") }
        #expect(throws: FileBody.Problem.outOfRange(size: 3)) { try FileBody(path: file.path, range: 2..<4) }
    }

    @Test("a file is sent again from its start where the first connection had been closed")
    func retried() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .wait(gate), .close]],
            otherwise: [.receive(.headEnd), .receive(.bytes(Self.large.count)), .send(ok)]
        )
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).succeeded)
        let request = try put(server.port, .file(try FileBody(path: TemporaryFileOf.large.path)))
        let result = await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                gate.open()
                _ = try? server.wait(for: 0, "the close") { $0.isClosed }
                engine.lookInVain()
                Recorder(engine) { continuation.resume(returning: $0) }.start(request)
            }
        }
        #expect(result.text == "ok" && result.report?.retried == true)
        #expect(result.report?.contentSent == UInt64(Self.large.count))
        #expect(content(server, 1) == Self.large)
    }

    @Test("a refusal ends a file's upload as any other's")
    func refused() async throws {
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"), .stall,
        ])
        let engine = try EngineHarness()
        // Sparse, and larger than any socket's buffer.
        let file = TemporaryFile()
        file.truncate(to: 1 << 30)
        let result = await engine.run(try put(server.port, .file(try FileBody(path: file.path))))
        #expect(result.status == 413 && result.text == "big" && result.sent < 1 << 30)
        #expect(await engine.statistics == EngineStatistics())
    }

    private enum TemporaryFileOf { static let large = TemporaryFile(FileBodyTests.large) }
}
