import CUncurlLinux
import Glibc
import Synchronization

/// A program run beside a test, in a process group of its own, holding nothing of ours but its three streams.
///
/// Not Foundation's `Process`: the pipes and sockets it makes are inherited by whatever another test starts at the same
/// moment, so that their ends were seen only when that other program ended, or never; and its waiting needs a run loop
/// of the very thread that started it.
public final class ChildProcess: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// What a program finds on its standard input.
    public enum Input: Sendable {
        case nothing
        /// What ``type(_:)`` sends.
        case typed
        /// Nothing, but a program that outlives the tests is ended: those that crash end no daemon.
        case lifeline
    }

    /// No program here runs half as long, whatever else the machine does.
    public static let patience = Duration.seconds(300)

    public let program: String
    private let id: pid_t
    private let state: Mutex<State>

    private struct State {
        /// Our end of its input.
        var input: Int32?
        /// How it ended, as the shell has it: 128 and the signal's number after a signal.
        var status: Int32?
    }

    /// - Parameters:
    ///   - output: a file for what it writes to its standard output.
    ///   - error: one for its standard error; nil for the same.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        input: Input = .nothing,
        output: String = "/dev/null",
        error: String? = nil
    ) throws {
        self.program = program
        var words = [program] + arguments
        if case .lifeline = input {
            let script = #"exec 3<&0; (cat <&3; kill $$) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null"#
            words = ["/bin/sh", "-c", script, "sh"] + words
        }
        var ends: [Int32] = [-1, -1]
        if case .nothing = input {
        } else {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure("socketpair", errno) }
        }
        defer { if ends[1] >= 0 { close(ends[1]) } }
        do {
            id = try ChildProcess.spawn(words, input: ends[1], output, error)
        } catch {
            if ends[0] >= 0 { close(ends[0]) }
            throw error
        }
        state = Mutex(State(input: ends[0] >= 0 ? ends[0] : nil))
    }

    private static func spawn(_ words: [String], input: Int32, _ output: String, _ error: String?) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if input >= 0 {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        if let error {
            posix_spawn_file_actions_addopen(&actions, 2, error, flags, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        uncurl_spawn_closes_from(&actions, 3)
        // A thread that runs tests blocks all signals, and its child would too.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var id = pid_t()
        let failure = posix_spawn(&id, words[0], &actions, &attributes, &pointers, environ)
        guard failure == 0 else { throw Failure(words[0], failure) }
        return id
    }

    deinit { end() }

    // MARK: Its input

    /// To a program that reads it, or has gone.
    public func type(_ text: String) {
        state.withLock { state in
            guard let input = state.input else { return }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// No more will be typed.
    public func closeInput() {
        state.withLock { state in
            if let input = state.input.take() { close(input) }
        }
    }

    // MARK: Its end

    public var isRunning: Bool { status == nil }

    private var status: Int32? {
        state.withLock { state in
            var status: Int32 = 0
            if state.status == nil, waitpid(id, &status, WNOHANG) == id {
                state.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
            }
            return state.status
        }
    }

    /// Until something holds that the program signals by no event, or ``patience`` is at its end.
    public static func wait(until condition: () -> Bool) {
        let limit = ContinuousClock.now + patience
        while !condition(), ContinuousClock.now < limit { usleep(10_000) }
    }

    /// Waits for its end; one that makes none is killed, and that is an error.
    public func waitForEnd() throws -> Int32 {
        if let status = wait(atMost: Self.patience) { return status }
        end()
        throw Failure(description: "\(program) made no end in \(Self.patience)")
    }

    /// Sends it a signal, unless it has ended.
    public func signal(_ number: Int32) {
        // The lock keeps its number its own: nobody takes its status meanwhile.
        state.withLock { state in
            if state.status == nil { kill(id, number) }
        }
    }

    /// Asks it to end, with all it has started, and after two seconds makes it.
    public func end() {
        signalGroup(SIGTERM)
        if wait(atMost: .seconds(2)) == nil {
            signalGroup(SIGKILL)
            _ = wait(atMost: Self.patience)
        }
        closeInput()
    }

    private func signalGroup(_ number: Int32) {
        state.withLock { state in
            if state.status == nil { kill(-id, number) }
        }
    }

    private func wait(atMost limit: Duration) -> Int32? {
        let deadline = ContinuousClock.now + limit
        while true {
            if let status { return status }
            if ContinuousClock.now > deadline { return nil }
            usleep(1_000)
        }
    }
}

extension ChildProcess.Failure {
    fileprivate init(_ what: String, _ error: Int32) {
        description = "\(what): \(String(cString: strerror(error)))"
    }
}
