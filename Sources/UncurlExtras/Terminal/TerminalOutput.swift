internal import Glibc

extension String {
    /// What comes from a server must not command the terminal: without controls, those of ISO 6429's second set too,
    /// and what is not seen.
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

/// Where a ``TerminalProgressBar`` writes.
public struct TerminalOutput: Sendable {
    /// Whether a line may be written over. In files and pipes each is written once, and few.
    public let isTerminal: Bool
    /// In columns; asked before each line.
    public let width: @Sendable () -> Int
    /// Writes text, one call at a time for one progress bar.
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

    /// Standard error: what a program is for goes to its standard output.
    public static let standardError = TerminalOutput(descriptor: STDERR_FILENO)
    /// Standard output.
    public static let standardOutput = TerminalOutput(descriptor: STDOUT_FILENO)

    private init(descriptor: CInt) {
        // A terminal that cannot write over a line says so.
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
                // There is no other place to report a failure of the terminal.
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
