import Foundation
import Synchronization
import TestServer
import TestSupport
import Testing

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
}
