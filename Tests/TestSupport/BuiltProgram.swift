import Foundation

/// A finished run of a program of this package, as it was built: it lies beside the tests' own.
public struct BuiltProgram {
    public let status: Int32
    public let out: String
    public let err: String

    /// Runs it to its end; with a condition, interrupts it as soon as that holds.
    ///
    /// - Parameter output: for standard output instead of a pipe; ``out`` is empty then.
    public init(
        _ name: String,
        _ arguments: [String],
        output: FileHandle? = nil,
        interruptOnce condition: (() -> Bool)? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name)
        process.arguments = arguments
        let (out, err) = (Pipe(), Pipe())
        process.standardOutput = output ?? out
        process.standardError = err
        try process.run()
        if let condition {
            while process.isRunning, !condition() { usleep(1_000) }
            process.interrupt()
        }
        self.out = output == nil ? BuiltProgram.text(out) : ""
        self.err = BuiltProgram.text(err)
        process.waitUntilExit()
        status = process.terminationStatus
    }

    private static func text(_ pipe: Pipe) -> String {
        String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}
