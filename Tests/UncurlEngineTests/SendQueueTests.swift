import Testing
import UncurlReactor

@testable import UncurlEngine

@Suite("The send queue")
struct SendQueueTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("bytes leave in order whatever the kernel takes at a time", arguments: 1...13)
    func order(step: Int) throws {
        var queue = SendQueue()
        queue.append(bytes("HEAD"), isContent: false)
        queue.append([], isContent: true)
        queue.append(bytes("content"), isContent: true)
        queue.append(bytes("\r\n"), isContent: false)
        var out: [UInt8] = []
        let progress = try queue.flush { first, second throws(Errno) in
            let all = unsafe first.withUnsafeBufferPointer { Array($0) } + second.withUnsafeBufferPointer { Array($0) }
            out += all.prefix(step)
            return min(step, all.count)
        }
        #expect(out == bytes("HEADcontent\r\n"))
        #expect(progress.finished && progress.bytes == 13 && progress.content == 7)
        #expect(queue.isEmpty)
    }

    @Test("a queue that is never empty does not grow, and gives everything once")
    func neverEmpty() throws {
        var queue = SendQueue()
        var (written, out): ([UInt8], [UInt8]) = ([], [])
        for number in 0..<5_000 {
            for part in 0..<2 {
                let piece = [UInt8(truncatingIfNeeded: number), UInt8(part)]
                queue.append(piece, isContent: true)
                written += piece
            }
            // Four bytes come, and four leave; a byte stays from the first time on.
            var room = number == 0 ? 3 : 4
            _ = try queue.flush { first, second throws(Errno) in
                let all =
                    unsafe first.withUnsafeBufferPointer { Array($0) } + second.withUnsafeBufferPointer { Array($0) }
                let taken = min(room, all.count)
                out += all.prefix(taken)
                room -= taken
                return taken == 0 ? nil : taken
            }
            #expect(!queue.isEmpty)
            if queue.places > 200 { return #expect(queue.places <= 200) }
        }
        #expect(out == Array(written.dropLast()))
    }

    @Test("a full socket stops the flush, and the next goes on at the very byte")
    func blocking() throws {
        var queue = SendQueue()
        queue.append(bytes("abcdef"), isContent: true)
        var room = 4
        let first = try queue.flush { span, _ throws(Errno) in
            guard room > 0 else { return nil }
            defer { room -= min(room, span.count) }
            return min(room, span.count)
        }
        #expect(!first.finished && first.content == 4)
        var rest: [UInt8] = []
        let second = try queue.flush { span, _ throws(Errno) in
            rest = unsafe span.withUnsafeBufferPointer { Array($0) }
            return span.count
        }
        #expect(second.finished && rest == bytes("ef"))
    }

    @Test("what was sent before queueing is skipped across pieces")
    func skipping() throws {
        var queue = SendQueue()
        queue.append(bytes("head"), isContent: false)
        queue.append(bytes("body"), isContent: true)
        queue.skip(6)
        let progress = try queue.flush { first, second throws(Errno) in first.count + second.count }
        #expect(progress.bytes == 2 && progress.content == 2)
    }
}
