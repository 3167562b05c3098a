import Foundation
import TestSupport
import Testing
import UncurlExtras

@Suite("Terminal output", .ownThread, .timeLimit(.minutes(5)))
struct TerminalOutputTests {
    @Test("all of a text is written to a full terminal that another process has made nonblocking")
    func nonblocking() async {
        await #expect(processExitsWith: .success) {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO, close(ends[1]) == 0,
                fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) == 0
            else { _exit(2) }
            Thread.detachNewThread {
                TerminalOutput.standardError.write(String(repeating: "x", count: 1 << 20))
                close(STDERR_FILENO)
            }
            let isFull = Eventually.holds {
                var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                return poll(&room, 1, 0) == 0
            }
            guard isFull else { _exit(3) }
            var total = 0
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while case let count = read(ends[0], &chunk, chunk.count), count > 0 { total += count }
            _exit(total == 1 << 20 ? EXIT_SUCCESS : 4)
        }
    }
}
