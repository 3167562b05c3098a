import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Blocking output", .ownThread)
struct BlockingOutputTests {
    @Test("all of it is written, though the pipe holds less at once")
    func all() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let reading = OwnedFD(taking: ends[0])
        let writing = ends[1]
        let writer = try LoopThread(name: "writer") {
            try? BlockingOutput.writeAll(String(repeating: "x", count: 300_000), to: writing)
            close(writing)
        }
        var total = 0
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(reading.number, &chunk, chunk.count), count > 0 { total += count }
        writer.join()
        #expect(total == 300_000)
    }

    @Test("all of it is written to a full pipe that another process has made nonblocking")
    func nonblocking() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let reading = OwnedFD(taking: ends[0])
        let writing = ends[1]
        try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
        let writer = try LoopThread(name: "writer") {
            try? BlockingOutput.writeAll(String(repeating: "x", count: 1 << 20), to: writing)
            close(writing)
        }
        #expect(
            Eventually.holds {
                var room = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
                return poll(&room, 1, 0) == 0
            }
        )
        var total = 0
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(reading.number, &chunk, chunk.count), count > 0 { total += count }
        writer.join()
        #expect(total == 1 << 20)
    }

    @Test("a device that takes nothing says why")
    func refused() {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        #expect(throws: Errno(code: ENOSPC)) { try BlockingOutput.writeAll("x", to: full) }
        #expect(throws: Errno(code: EBADF)) { try BlockingOutput.writeAll("x", to: -1) }
    }
}
