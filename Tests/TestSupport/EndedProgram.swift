import Foundation

/// A finished run of a program.
public struct EndedProgram: Sendable {
    /// 128 and the signal's number, if one ended it.
    public let status: Int32
    public let out: String
    public let err: String

    /// Runs it to its end; with a condition, interrupts it as soon as that holds.
    ///
    /// - Parameters:
    ///   - input: typed, and then the end of the input.
    ///   - output: a file for its standard output; ``out`` is empty then.
    public init(
        _ program: String,
        _ arguments: [String],
        input: String? = nil,
        output: String? = nil,
        interruptOnce condition: (() -> Bool)? = nil
    ) throws {
        let (out, err) = (TemporaryFile(), TemporaryFile())
        let process = try ChildProcess(
            program,
            arguments,
            input: input == nil ? .nothing : .typed,
            output: output ?? out.path,
            error: err.path
        )
        if let input {
            process.type(input)
            process.closeInput()
        }
        if let condition {
            let limit = ContinuousClock.now + ChildProcess.patience
            while process.isRunning, !condition(), ContinuousClock.now < limit { usleep(1_000) }
            process.signal(SIGINT)
        }
        status = try process.waitForEnd()
        self.out = output == nil ? out.text : ""
        self.err = err.text
    }

    /// Runs a program of this package, as it was built: it lies beside the tests' own.
    public init(
        built name: String,
        _ arguments: [String],
        output: String? = nil,
        interruptOnce condition: (() -> Bool)? = nil
    ) throws {
        try self.init(EndedProgram.built(name), arguments, output: output, interruptOnce: condition)
    }

    /// Where that program lies.
    public static func built(_ name: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Runs words of a shell; both outputs only where `line` says so.
    public init(shell line: String) throws { try self.init("/bin/sh", ["-c", line]) }
}
