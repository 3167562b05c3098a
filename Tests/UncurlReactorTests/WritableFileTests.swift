import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Files that are continued", .ownThread)
struct WritableFileTests {
    private let made = TemporaryFile(Array("0123456789".utf8))

    private func size() -> Int {
        var facts = stat()
        return stat(made.path, &facts) == 0 ? Int(facts.st_size) : -1
    }

    @Test("are continued by one at a time: another is refused, and neither cuts nor removes the file")
    func exclusive() throws {
        var first: WritableFile? = try WritableFile(path: made.path, continuingAt: 8)
        try first?.write(Array("abcd".utf8).span)
        #expect(throws: Errno.wouldBlock) { try WritableFile(path: made.path, continuingAt: 4) }
        WritableFile.removeUnlessContinued(made.path)
        #expect(size() == 12)
        first = nil
        _ = try WritableFile(path: made.path, continuingAt: 4)
        #expect(size() == 4)
        WritableFile.removeUnlessContinued(made.path)
        #expect(size() == -1)
    }

    @Test("are regular: a pipe is refused, with a reader or without one, and nobody waits for a reader")
    func notRegular() throws {
        made.remove()
        #expect(mkfifo(made.path, 0o600) == 0)
        #expect(throws: Errno(code: ENXIO)) { try WritableFile(path: made.path, continuingAt: 0) }
        let reader = open(made.path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        #expect(throws: Errno.invalidArgument) { try WritableFile(path: made.path, continuingAt: 0) }
    }

    @Test("are refused if they are shorter than what is to be kept")
    func shorter() {
        #expect(throws: Errno.invalidArgument) { try WritableFile(path: made.path, continuingAt: 11) }
        #expect(size() == 10)
    }
}
