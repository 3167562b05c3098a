import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Open files", .ownThread)
struct OpenFileTests {
    private let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test("are read at any place, by name or by a descriptor that stays its owner's")
    func read() throws {
        let made = TemporaryFile(content)
        let number = open(made.path, O_RDONLY)
        let files = [try OpenFile(path: made.path), try OpenFile(duplicating: number)]
        close(number)
        for file in files {
            #expect(file.status.size == 200_000)
            #expect(try file.read(at: 199_990, atMost: 100) == Array(content.suffix(10)))
            #expect(try file.read(at: 5, atMost: 3) == Array(content[5..<8]))
            #expect(try file.read(at: 200_000, atMost: 3).isEmpty)
            #expect(throws: Errno.invalidArgument) { try file.read(at: .max, atMost: 1) }
        }
        #expect(files[0].status == files[1].status)
    }

    @Test("are regular: neither a directory nor a pipe is, and no pipe's writer is waited for")
    func notRegular() throws {
        let pipe = TemporaryFile()
        pipe.remove()
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for path in ["/tmp", pipe.path, "/dev/null"] {
            #expect(throws: OpenFile.Problem.notRegular) { try OpenFile(path: path) }
        }
        #expect(throws: OpenFile.Problem.system(.noSuchFile)) { try OpenFile(path: pipe.path + "none") }
    }

    @Test("have no NUL in their path, and the file named before it is not opened")
    func nul() throws {
        let made = TemporaryFile(content)
        #expect(throws: OpenFile.Problem.system(.invalidArgument)) { try OpenFile(path: made.path + "\0.png") }
    }

    @Test("leave through a socket as they are, in slices, until the file ends")
    func sendFile() throws {
        let made = TemporaryFile(content)
        let file = try OpenFile(path: made.path)
        let ends = try Peer().connected()
        #expect(try ends.client.send(file, at: 1_000, atMost: 500) == 500)
        #expect(try ends.client.send(file, at: 200_000, atMost: 1) == 0)
        Wire.wait(ends.server.number, for: POLLIN)
        let buffer = ReadBuffer()
        #expect(try ends.server.read(into: buffer) == .bytes(500))
        buffer.withBytes(500) { bytes in #expect(bytes.indices.map { bytes[$0] } == Array(content[1_000..<1_500])) }
        var offset: UInt64 = 0
        while let count = try ends.client.send(file, at: offset % 200_000, atMost: 1 << 20) { offset += UInt64(count) }
        #expect(offset > 0)
    }

    @Test("a broken socket is an error and no SIGPIPE, on a thread that would die of one; another's SIGPIPE stays")
    func brokenPipe() throws {
        let made = TemporaryFile(content)
        let file = try OpenFile(path: made.path)
        for waits in [false, true] {
            let ends = try Peer().connected()
            ends.client.shutdownWrite()
            var (pipe, before, after) = (sigset_t(), sigset_t(), sigset_t())
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(waits ? SIG_BLOCK : SIG_UNBLOCK, &pipe, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            if waits { pthread_kill(pthread_self(), SIGPIPE) }
            #expect(throws: Errno.brokenPipe) { try ends.client.send(file, at: 0, atMost: 100) }
            sigpending(&after)
            #expect((sigismember(&after, SIGPIPE) == 1) == waits)
            pthread_sigmask(SIG_BLOCK, nil, &after)
            #expect((sigismember(&after, SIGPIPE) == 1) == waits)
            if waits { #expect(sigwaitinfo(&pipe, nil) == SIGPIPE) }
        }
    }
}
