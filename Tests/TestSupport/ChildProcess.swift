import Glibc
import Synchronization

/// A program run beside a test. Not Foundation's `Process`, whose waiting needs a run loop of the very thread that
/// started it, which a test does not have.
final class ChildProcess: Sendable {
    struct Failure: Error { let errno: Int32 }

    let program: String
    private let id: pid_t
    /// Our end of a pipe that is the sign of our life.
    private let lifeline: Int32
    private let state = Mutex(State())

    private struct State {
        var isOver = false
        var isClosed = false
    }

    /// - Parameter output: a file for what it says on either stream.
    init(_ program: String, _ arguments: [String], output: String) throws {
        self.program = program
        var pipe: [Int32] = [0, 0]
        guard Glibc.pipe(&pipe) == 0 else { throw Failure(errno: errno) }
        defer { close(pipe[0]) }
        // Another child that had our end too would keep this one alive.
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe[0], 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A thread that runs tests blocks all signals, and its child would too.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // Tests that crash end no daemon, but the pipe's end does.
        let script = #"exec 3<&0; (cat <&3; kill $$) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null"#
        let words = ["/bin/sh", "-c", script, "sh", program] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var id = pid_t()
        let failure = posix_spawn(&id, words[0], &actions, &attributes, &pointers, environ)
        guard failure == 0 else {
            close(pipe[1])
            throw Failure(errno: failure)
        }
        self.id = id
        lifeline = pipe[1]
    }

    deinit { end() }

    var isRunning: Bool {
        state.withLock { state in
            if !state.isOver { state.isOver = waitpid(id, nil, WNOHANG) == id }
            return !state.isOver
        }
    }

    /// Asks it to end, and after two seconds makes it.
    func end() {
        if isRunning { kill(id, SIGTERM) }
        for _ in 0..<2_000 where isRunning { usleep(1_000) }
        state.withLock { state in
            if !state.isOver {
                kill(id, SIGKILL)
                waitpid(id, nil, 0)
            }
            if !state.isClosed { close(lifeline) }
            state = State(isOver: true, isClosed: true)
        }
    }
}
