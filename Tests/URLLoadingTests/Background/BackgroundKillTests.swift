import Foundation
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// The short form of `./dev bench background`.
@Suite("Background downloads that are killed", .ownThread, .timeLimit(.minutes(15)))
struct BackgroundKillTests {
    private func isAlphabet(_ data: Data) -> Bool {
        let period = Data((0..<26 * 40_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        return stride(from: 0, to: data.count, by: period.count).allSatisfy { start in
            let piece = data[start..<min(start + period.count, data.count)]
            return piece == period.prefix(piece.count)
        }
    }

    /// A separate process that downloads, or resumes, the file of a round.
    private func process(
        _ name: String,
        _ folder: TemporaryFolder,
        _ address: String,
        _ destination: String,
        diesAfter: Int? = nil
    ) throws -> ChildProcess {
        var arguments = ["XDG_STATE_HOME=\(folder.path)"]
        if let diesAfter { arguments.append("DIES_AFTER=\(diesAfter)") }
        arguments += [EndedProgram.built("OneRequest"), "--background", name, address, destination]
        return try ChildProcess("/usr/bin/env", arguments)
    }

    @Test("a background download waits for the disk twice for its content, and once for each of its other changes")
    func waits() throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        try folder.make()
        let (log, destination) = ("\(folder.path)/calls", "\(folder.path)/file")
        let program = [EndedProgram.built("OneRequest"), "--background", "waits", server.url("/range/1000")]
        let trace = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", log]
        // Leaks cannot be looked for in a process that is traced.
        let command =
            ["XDG_STATE_HOME=\(folder.path)", "ASAN_OPTIONS=detect_leaks=0"] + trace + program + [destination]
        let process = try ChildProcess("/usr/bin/env", command)
        #expect(try process.waitForEnd() == 0)
        let calls = String(decoding: folder.bytes(of: "calls"), as: UTF8.self).split(separator: "\n")
        #expect(calls.filter { $0.contains("sync(") }.count <= 6)
        #expect(folder.bytes(of: "file").count == 1_000)
    }

    @Test("after kill -9 at any moment and at any octet, five times each, the file is complete and correct")
    func killed() async throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        try folder.make()
        var random = SplitMix(seed: 0x6b69_6c6c)
        for round in 0..<5 {
            let size = 20_000_000 + round
            let destination = "\(folder.path)/file-\(round)"
            let (name, address) = ("kill-\(round)", server.url("/range/\(size)"))
            let first = try process(name, folder, address, destination)
            let limit = ContinuousClock.now + .milliseconds(Int(random.next() % 200))
            await until { !first.isRunning || ContinuousClock.now >= limit }
            first.signal(SIGKILL)
            first.end()
            // A later process goes on where the one before it was killed.
            let octets = Int(random.next() % UInt64(size))
            let second = try process(name, folder, address, destination, diesAfter: octets)
            let status = try second.waitForEnd()
            #expect(status != 0 || FileManager.default.fileExists(atPath: destination))
            #expect(try process(name, folder, address, destination).waitForEnd() == 0)
            let data = try Data(contentsOf: URL(fileURLWithPath: destination), options: .alwaysMapped)
            #expect(data.count == size && isAlphabet(data))
            StoreFile.remove(destination)
        }
    }

    @Test("content that was changed on disk between two processes is never delivered")
    func changed() async throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        try folder.make()
        var random = SplitMix(seed: 0x6368_616e)
        for round in 0..<6 {
            let size = 8_000_000 + round
            let destination = "\(folder.path)/file-\(round)"
            let (name, address) = ("change-\(round)", server.url("/range/\(size)"))
            // After some notes of the sum, so that the download can be resumed.
            let octets = 1_000_000 + Int(random.next() % 6_000_000)
            #expect(try process(name, folder, address, destination, diesAfter: octets).waitForEnd() != 0)
            let state = "\(folder.path)/OneRequest/background/id-change-\(round)"
            let parts = try StoreFile.names(in: state).filter { $0.hasSuffix(".part") }
            #expect(parts.count == 1)
            for name in parts {
                let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "\(state)/\(name)"))
                let length = try handle.seekToEnd()
                let place = random.next() % max(length, 1)
                try handle.seek(toOffset: place)
                let octet = try #require(handle.read(upToCount: 1)?.first)
                try handle.seek(toOffset: place)
                try handle.write(contentsOf: [octet ^ 1 << UInt8(random.next() % 8)])
                try handle.close()
            }
            #expect(try process(name, folder, address, destination).waitForEnd() == 0)
            let data = try Data(contentsOf: URL(fileURLWithPath: destination), options: .alwaysMapped)
            #expect(data.count == size && isAlphabet(data))
            StoreFile.remove(destination)
        }
    }

    @Test("an upload whose process is killed continues from the server's offset and completes")
    func upload() throws {
        let server = try TestServer.start(loops: 2)
        let folder = TemporaryFolder()
        try folder.make()
        let size = 24_000_000
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) }
        let file = TemporaryFile(content)
        let address = server.url("/resumable-upload")
        for octets in [4_000_000, 10_000_000, 16_000_000] {
            let process = try upload(folder, address, file.path, diesAfter: octets)
            #expect(try process.waitForEnd() != 0)
        }
        let output = TemporaryFile()
        let last = try upload(folder, address, file.path, output: output.path)
        #expect(try last.waitForEnd() == 0)
        let hash = (MessageDigest.sha256.hash(content.span) ?? []).map { String(format: "%02x", $0) }.joined()
        #expect(output.text.contains("\"length\": \(size)") && output.text.contains(hash))
        // One process begins the upload, each later one asks for the offset and sends the rest. At least one has
        // resumed it, or it would have been begun four times.
        #expect(server.requestCount > 4)
    }

    private func upload(
        _ folder: TemporaryFolder,
        _ address: String,
        _ file: String,
        diesAfter: Int? = nil,
        output: String = "/dev/null"
    ) throws -> ChildProcess {
        var arguments = ["XDG_STATE_HOME=\(folder.path)"]
        if let diesAfter { arguments.append("DIES_AFTER=\(diesAfter)") }
        arguments += [EndedProgram.built("OneRequest"), "--background-upload", "upload", address, file]
        return try ChildProcess("/usr/bin/env", arguments, output: output)
    }
}
