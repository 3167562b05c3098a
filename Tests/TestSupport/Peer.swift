import CUncurlLinux
import Foundation
import Glibc

/// Another program, run as a daemon for one test: with a configuration and a port of its own, in a folder of its own,
/// and ended by its process id.
///
/// A test that needs one fails where it is not installed: `./dev test` installs them all.
public final class Peer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let port: UInt16
    private let process: ChildProcess
    private let folder: URL

    /// Starts it and waits until it listens on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - configuration: written to a file; `PORT` and `FOLDER` in it stand for those of this peer.
    ///   - files: others in the folder, by their names.
    ///   - arguments: `PORT`, `FOLDER` and `CONFIGURATION` stand for those of this peer; it may not leave for the
    ///     background.
    public init(
        _ program: String,
        configuration: String = "",
        files: [String: String] = [:],
        _ arguments: [String]
    ) async throws {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Failure(description: "\(program) is not installed; ./dev test installs it")
        }
        folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("uncurl-peer-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The system gives out the same port again only after all others.
        port = try RefusingPort().number
        let path = folder.path
        let file = folder.appendingPathComponent("configuration")
        let replaced = { [port] (text: String) in
            text.replacing("PORT", with: "\(port)").replacing("FOLDER", with: path)
                .replacing("CONFIGURATION", with: file.path)
        }
        try replaced(configuration).write(to: file, atomically: false, encoding: .utf8)
        for (name, content) in files {
            try content.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
        }
        let log = folder.appendingPathComponent("output")
        process = try ChildProcess(program, arguments.map(replaced), input: .lifeline, output: log.path)
        do {
            try await waitUntilItListens(log)
        } catch {
            stop()
            throw error
        }
    }

    deinit { stop() }

    /// Ends it, and waits for that.
    public func stop() {
        process.end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Gives its thread to other tests meanwhile.
    private func waitUntilItListens(_ log: URL) async throws {
        let limit = ContinuousClock.now + ChildProcess.patience
        while !Peer.answers(port) {
            guard process.isRunning, ContinuousClock.now < limit else {
                let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                throw Failure(description: "\(process.program) does not listen: \(said)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
