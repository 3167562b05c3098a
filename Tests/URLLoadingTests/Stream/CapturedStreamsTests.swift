import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import URLLoading

@Suite("Captured streams", .ownThread, .timeLimit(.minutes(5)))
struct CapturedStreamsTests {
    private func captured(_ server: RawServer) async throws -> (StreamRecorder, StreamRecorder.Streams) {
        let recorder = StreamRecorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
        task.resume()
        try await task.write(Data("go".utf8), timeout: 0)
        _ = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
        task.captureStreams()
        await recorder.milestone()
        let streams = try #require(recorder.told.streams)
        session.finishTasksAndInvalidate()
        return (recorder, streams)
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    private static func readAll(_ input: InputStream) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = input.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    @Test("the task is completed and reports no more; read-ahead bytes come first, and both directions go on")
    func takenOver() async throws {
        let server = try RawServer.start([
            [.receive(.bytes(2)), .send("xahead"), .receive(.bytes(4)), .send("behind"), .finish]
        ])
        let (recorder, streams) = try await captured(server)
        let (text, status) = await onThread { () -> (String, Stream.Status) in
            streams.input.open()
            streams.output.open()
            let words = Array("more".utf8)
            guard streams.output.write(words, maxLength: words.count) == 4 else { return ("", .error) }
            streams.output.close()
            return (String(decoding: Self.readAll(streams.input), as: UTF8.self), streams.input.streamStatus)
        }
        #expect(text == "aheadbehind" && status == .atEnd)
        streams.input.close()
        #expect(try server.waitForEnd(of: 0).sawFinish)
        #expect(server.received(0) == Array("gomore".utf8))
        #expect(recorder.events.filter { $0 != "read closed" } == ["captured, true"])
    }

    @Test("large content in both directions arrives complete, whichever side is slow")
    func large() async throws {
        let bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 4) }
        let server = try RawServer.start([
            [.receive(.bytes(2)), .send("x"), .send(bytes), .receive(.bytes(bytes.count)), .finish]
        ])
        let (_, streams) = try await captured(server)
        async let written = onThread { () -> Int in
            streams.output.open()
            var sent = 0
            while sent < bytes.count {
                let piece = Array(bytes[sent..<min(sent + 100_000, bytes.count)])
                let count = streams.output.write(piece, maxLength: piece.count)
                guard count > 0 else { return sent }
                sent += count
            }
            return sent
        }
        let read = await onThread { () -> [UInt8] in
            streams.input.open()
            return Self.readAll(streams.input)
        }
        #expect(await written == bytes.count)
        #expect(read == bytes)
        #expect(Array(try server.waitForBytes(2 + bytes.count, on: 0).dropFirst(2)) == bytes)
    }

    @Test("a stream in a run loop calls its delegate, and released streams close the connection")
    func scheduled() async throws {
        let server = try RawServer.start([[.receive(.bytes(2)), .send("xhello"), .finish]])
        var held: StreamRecorder.Streams? = try await captured(server).1
        let streams = try #require(held)
        held = nil
        let text = await onThread { () -> String in
            let listener = Listener()
            streams.input.delegate = listener
            streams.input.schedule(in: .current, forMode: .default)
            streams.input.open()
            let limit = Date().addingTimeInterval(30)
            while !listener.isOver, Date() < limit { _ = RunLoop.current.run(mode: .default, before: limit) }
            streams.input.remove(from: .current, forMode: .default)
            return listener.text
        }
        #expect(text == "hello")
    }

    private final class Listener: NSObject, StreamDelegate {
        var text = ""
        var isOver = false

        func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
            guard let input = aStream as? InputStream else { return }
            var buffer = [UInt8](repeating: 0, count: 64)
            while !isOver, input.hasBytesAvailable {
                let count = input.read(&buffer, maxLength: buffer.count)
                if count <= 0 { isOver = true } else { text += String(decoding: buffer[..<count], as: UTF8.self) }
            }
        }
    }

    @Test("released streams close the connection")
    func letGo() async throws {
        let server = try RawServer.start([[.receive(.bytes(2)), .send("x")]])
        do {
            _ = try await captured(server)
        }
        let end = try server.waitForEnd(of: 0)
        #expect(end.sawFinish || end.sawReset)
    }

    /// More than the kernel takes while the peer does not read.
    private static let much = [UInt8](repeating: 7, count: 16 << 20)

    /// Writes much to a peer that does not read, closes both streams and releases them.
    private func leave(_ server: RawServer) async throws {
        weak var output: OutputStream?
        do {
            let streams = try await captured(server).1
            output = streams.output
            let count = await onThread { () -> Int in
                streams.input.open()
                streams.output.open()
                let count = streams.output.write(Self.much, maxLength: Self.much.count)
                streams.output.close()
                streams.input.close()
                return count
            }
            #expect(count == Self.much.count)
        }
        #expect(Eventually.holds { output == nil })
    }

    @Test("what was written before both streams were closed and released arrives, although the peer goes on sending")
    func leftWithBytes() async throws {
        let gate = RawGate()
        let server = try RawServer.start([
            [.receive(.bytes(2)), .send("x"), .stallUntil(gate), .send("y"), .receive(.bytes(Self.much.count))]
        ])
        try await leave(server)
        gate.open()
        let end = try server.waitForEnd(of: 0)
        #expect(end.sawFinish && !end.sawReset)
        #expect(end.received.count == 2 + Self.much.count)
    }

    @Test("after what was written is sent, the descriptor is given back, although the peer never ends")
    func leftToSilence() async throws {
        let gate = RawGate()
        let server = try RawServer.start([
            [.receive(.bytes(2)), .send("x"), .stallUntil(gate), .receive(.bytes(Self.much.count))]
        ])
        try await leave(server)
        let port = try #require(server.connections.first?.peer?.port)
        #expect(try Self.isHeld(port))
        gate.open()
        #expect(try server.waitForEnd(of: 0).sawFinish)
        #expect(try Eventually.holds { try !Self.isHeld(port) })
    }

    /// Whether a descriptor belongs to the socket of that port: the kernel lists a socket without one with the inode 0.
    private static func isHeld(_ port: UInt16) throws -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let end = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        let list = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/net/tcp")).readToEnd() ?? Data()
        return String(decoding: list, as: UTF8.self).split(separator: "\n").contains { line in
            let columns = line.split(separator: " ")
            return columns[1].hasSuffix(end) && columns[9] != "0"
        }
    }
}
