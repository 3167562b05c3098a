internal import CUncurlLinux
internal import Glibc

/// Properties of a terminal.
enum Terminal {
    static func isOne(_ descriptor: CInt) -> Bool {
        guard isatty(descriptor) == 1 else { return false }
        guard let name = unsafe getenv("TERM") else { return false }
        return unsafe String(cString: name) != "dumb"
    }

    /// The size; 80 by 24 where the terminal does not report it.
    static func size(of descriptor: CInt) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
