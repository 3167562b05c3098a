import LoadTestSupport
import TestSupport

/// volley with a terminal of 100 columns and 40 rows for its input, output and errors: `out` is what it wrote there.
///
/// - Parameter variables: of its environment, such as `["NO_COLOR=1"]`.
func volleyOnTerminal(_ arguments: [String], variables: [String] = []) throws -> EndedProgram {
    let script = """
        import os, pty, sys, struct, fcntl, termios
        child, screen = pty.fork()
        if child == 0:
            os.environ["TERM"] = "xterm-256color"
            os.environ.pop("NO_COLOR", None)
            os.environ.update(variable.split("=") for variable in sys.argv[1].split())
            fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
            os.execv(sys.argv[2], sys.argv[2:])
        got = b""
        while True:
            try: chunk = os.read(screen, 65536)
            except OSError: break
            if not chunk: break
            got += chunk
        _, status = os.waitpid(child, 0)
        sys.stdout.buffer.write(got)
        sys.exit(os.waitstatus_to_exitcode(status))
        """
    let line = ["-c", script, variables.joined(separator: " "), EndedProgram.built("volley")] + arguments
    return try EndedProgram(Python.anyPath, line)
}
