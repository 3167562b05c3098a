import CUncurlLinux
import UncurlLibC
import UncurlLoad
import UncurlReactor

/// Sends and receives messages through two descriptors, one line each. The lock guards `state`.
final class PartLink: Sendable {
    private let input: CInt
    private let output: CInt
    private let state = Monitor<(messages: [PartMessage], isClosed: Bool)>(([], false))

    init(input: CInt, output: CInt) {
        (self.input, self.output) = (input, output)
    }

    /// - Returns: false if the part no longer reads.
    @discardableResult
    func send(_ message: PartMessage) -> Bool { (try? BlockingOutput.writeAll(message.line, to: output)) != nil }

    func close() {
        _ = Glibc.close(input)
        _ = Glibc.close(output)
    }

    /// Reads on a thread of the pool, for ``take()`` and ``next()``. Each message wakes the main thread by a signal, so
    /// the main thread must have made its `SignalWait` before.
    func begin(on pool: BlockingPool) throws(BlockingPool.Refusal) {
        try pool.run { [self] in
            read { message in
                state.update { $0.messages.append(message) }
                SignalWait.wake()
            }
            state.update { $0.isClosed = true }
            SignalWait.wake()
        }
    }

    /// The longest line. One with the histograms of a hundred names is less than a tenth of this.
    private static let lineLimit = 64 << 20

    /// Reads messages until the end, or to a line that is too long or not a message. It blocks.
    private func read(_ received: (PartMessage) -> Void) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var (bytes, searched): ([UInt8], Int) = ([], 0)
        while true {
            while let end = bytes[searched...].firstIndex(of: 10) {
                guard let message = PartMessage(Array(bytes[..<end])) else { return }
                received(message)
                bytes.removeSubrange(...end)
                searched = 0
            }
            searched = bytes.count
            guard searched < Self.lineLimit else { return }
            let count = unsafe Glibc.read(input, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes += chunk[..<count]
        }
    }

    /// Waits for the next message; nil where the other end has closed.
    func next() -> PartMessage? {
        while true {
            let found: PartMessage?? = state.wait(atMost: .seconds(3_600)) { state in
                if !state.messages.isEmpty { return .some(state.messages.removeFirst()) }
                return state.isClosed ? .some(nil) : nil
            }
            if let found { return found }
        }
    }

    /// The messages since the last call, and whether the other end has closed.
    func take() -> (messages: [PartMessage], isClosed: Bool) {
        state.withLock { state in
            defer { state.messages = [] }
            return (state.messages, state.isClosed)
        }
    }
}

/// A command that makes a part of a run. It has a process group of its own, so that a terminal's interrupt reaches only
/// the lead, which then stops its parts.
final class PartProcess {
    let command: String
    let number: Int
    let link: PartLink
    private let id: pid_t
    var threads = 0
    /// The number of its first thread among those of all parts.
    var firstWorker = 0
    var hasEnded = false
    /// Whether the part has ended without reporting everything.
    var hasVanished = false

    init(_ command: String, number: Int) throws(UsageError) {
        (self.command, self.number) = (command, number)
        let (toPart, fromPart) = (Self.pipe(), Self.pipe())
        guard let toPart, let fromPart else { throw UsageError("--on \(quoted(command)) has no pipe: error \(errno)") }
        link = PartLink(input: fromPart.read, output: toPart.write)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, toPart.read, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, fromPart.write, STDOUT_FILENO)
        // The main thread blocks the signals that it waits for. Without this, a child would inherit the blocking.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        // The program ignores these signals. Without this, a child would ignore them too.
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let texts = ["/bin/sh", "-c", command]
        var words: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var id = pid_t()
        let failure = unsafe posix_spawn(&id, "/bin/sh", &actions, &attributes, &words, environ)
        _ = Glibc.close(toPart.read)
        _ = Glibc.close(fromPart.write)
        guard failure == 0 else {
            link.close()
            throw UsageError("--on \(quoted(command)) cannot be started: error \(failure)")
        }
        self.id = id
    }

    /// Both ends of a pipe, which no other started program inherits.
    private static func pipe() -> (read: CInt, write: CInt)? {
        var ends: [CInt] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    func renew() { (threads, firstWorker, hasEnded) = (0, 0, false) }

    var name: String { "part \(number) (\(oneLine(command)))" }

    /// Kills the process and its group, and waits for the process. Call it when its messages are no longer needed.
    func end() {
        kill(-id, SIGKILL)
        var status: CInt = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        link.close()
    }
}
