internal import CUncurlLinux
internal import UncurlLibC
import UncurlLoadReports
import UncurlReactor

/// What stands behind a descriptor, if it is a terminal.
struct Terminal {
    static let output = Terminal(descriptor: BlockingOutput.standard)
    static let errors = Terminal(descriptor: BlockingOutput.errors)

    let descriptor: CInt

    private var isThere: Bool { isatty(descriptor) == 1 }

    /// Whether it is a terminal that moves its cursor and shows colours.
    var isCapable: Bool { isThere && Self.isCapable(environment) }

    /// 80 by 24 where the descriptor has no size.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// How a report looks that is written here.
    var style: TextStyle { isThere ? Self.style(columns: size.columns, environment) : .plain }

    /// - Parameter variable: A variable of the environment. `NO_COLOR` wants no colours, and a terminal without a name,
    ///   or called `dumb`, has none.
    static func style(columns: Int, _ variable: (String) -> String?) -> TextStyle {
        TextStyle(columns: columns, isColored: isCapable(variable) && (variable("NO_COLOR") ?? "").isEmpty)
    }

    private static func isCapable(_ variable: (String) -> String?) -> Bool {
        variable("TERM").map { $0 != "dumb" } ?? false
    }
}
