import Foundation

/// A finished run of the built program.
struct Ended {
    var status: Int32
    var out: String
    var err: String
    var report: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(out.utf8))) as? [String: Any] ?? [:]
    }
    func number(_ section: String, _ name: String) -> Int? {
        (report[section] as? [String: Any])?[name] as? Int
    }
}

/// The program lies beside the tests' own.
private let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("volley")

/// Runs it to its end; with a condition, interrupts it as soon as that holds.
func volley(_ arguments: [String], interruptOnce condition: (() -> Bool)? = nil) throws -> Ended {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let (out, err) = (Pipe(), Pipe())
    process.standardOutput = out
    process.standardError = err
    try process.run()
    if let condition {
        while process.isRunning, !condition() { usleep(1_000) }
        process.interrupt()
    }
    let text = out.fileHandleForReading.readDataToEndOfFile()
    let complaints = err.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Ended(
        status: process.terminationStatus,
        out: String(decoding: text, as: UTF8.self),
        err: String(decoding: complaints, as: UTF8.self)
    )
}
