internal import Glibc

extension String {
    /// The text without control characters (also those of ISO 6429's C1 set) and invisible characters: text from a
    /// server must not control the terminal.
    var printable: String {
        var kept = UnicodeScalarView()
        for scalar in unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0: continue
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }
}

/// The output of a ``TerminalProgressBar``.
public struct TerminalOutput: Sendable {
    /// Whether a line can be overwritten. In files and pipes only a few lines are written, each once.
    public let isTerminal: Bool
    /// The width in columns. Called before each line.
    public let width: @Sendable () -> Int
    /// Writes text. A progress bar makes one call at a time.
    public let write: @Sendable (String) -> Void

    /// Makes an output of closures, for a window or a test.
    public init(
        isTerminal: Bool,
        width: @escaping @Sendable () -> Int = { 80 },
        write: @escaping @Sendable (String) -> Void
    ) {
        self.isTerminal = isTerminal
        self.width = width
        self.write = write
    }

    /// Standard error. Standard output is for the program's result.
    public static let standardError = TerminalOutput(descriptor: STDERR_FILENO)
    /// Standard output.
    public static let standardOutput = TerminalOutput(descriptor: STDOUT_FILENO)

    private init(descriptor: CInt) {
        // A terminal of the type `dumb` cannot overwrite a line.
        let name = unsafe getenv("TERM").map { unsafe String(cString: $0) }
        self.init(isTerminal: isatty(descriptor) == 1 && name != "dumb") {
            var size = winsize()
            let isKnown = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            return isKnown ? Int(size.ws_col) : 80
        } write: { text in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // Another process that shares the terminal has made it nonblocking, as ssh does.
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&room, 1, -1)
                    continue
                }
                // A failure of the terminal cannot be reported anywhere.
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
