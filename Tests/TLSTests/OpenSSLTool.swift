import Foundation

/// The distribution's own `openssl`.
enum OpenSSLTool {
    /// - Returns: the exit status.
    @discardableResult
    static func run(_ arguments: [String]) throws -> Int32 {
        let process = make(arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// What it writes to both outputs, a few lines at most.
    static func output(_ arguments: [String]) throws -> String {
        let process = make(arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func make(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
