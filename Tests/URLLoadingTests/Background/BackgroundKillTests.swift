import Foundation
import TestServer
import TestSupport
import Testing

@testable import URLLoading

/// The short form of `./dev bench background`.
@Suite("Background downloads that are killed", .timeLimit(.minutes(2)))
struct BackgroundKillTests {
    private func isAlphabet(_ data: Data) -> Bool {
        let period = Data((0..<26 * 40_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        return stride(from: 0, to: data.count, by: period.count).allSatisfy { start in
            let piece = data[start..<min(start + period.count, data.count)]
            return piece == period.prefix(piece.count)
        }
    }

    @Test("kill -9 at any moment, ten times: the file is whole and right in the end")
    func killed() async throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        try folder.make()
        var random = SplitMix(seed: 0x6b69_6c6c)
        var kills = 0
        for round in 0..<20 where kills < 10 {
            let size = 60_000_000 + round
            let destination = "\(folder.path)/file-\(round)"
            // As many processes as it takes; each goes on where the one before it was killed.
            for _ in 0..<40 where !FileManager.default.fileExists(atPath: destination) {
                let arguments = [
                    "XDG_STATE_HOME=\(folder.path)", EndedProgram.built("OneRequest"), "--background", "kill-\(round)",
                    server.url("/range/\(size)"), destination,
                ]
                let process = try ChildProcess("/usr/bin/env", arguments)
                let limit = ContinuousClock.now + .milliseconds(Int(random.next() % 200))
                await until { !process.isRunning || ContinuousClock.now >= limit }
                if process.isRunning {
                    process.signal(SIGKILL)
                    kills += 1
                }
                process.end()
            }
            let process = try ChildProcess(
                "/usr/bin/env",
                [
                    "XDG_STATE_HOME=\(folder.path)", EndedProgram.built("OneRequest"), "--background", "kill-\(round)",
                    server.url("/range/\(size)"), destination,
                ]
            )
            #expect(try process.waitForEnd() == 0)
            let data = try Data(contentsOf: URL(fileURLWithPath: destination), options: .alwaysMapped)
            #expect(data.count == size && isAlphabet(data))
            StoreFile.remove(destination)
        }
        #expect(kills >= 10)
    }

    @Test("content that was changed on disk between two processes, anywhere, is never part of what is delivered")
    func changed() async throws {
        let server = try TestServer.start()
        let folder = TemporaryFolder()
        try folder.make()
        var random = SplitMix(seed: 0x6368_616e)
        var changes = 0
        for round in 0..<40 where changes < 6 {
            let size = 30_000_000 + round
            let destination = "\(folder.path)/file-\(round)"
            let arguments = [
                "XDG_STATE_HOME=\(folder.path)", EndedProgram.built("OneRequest"), "--background", "change-\(round)",
                server.url("/range/\(size)"), destination,
            ]
            let state = "\(folder.path)/OneRequest/background/id-change-\(round)"
            let process = try ChildProcess("/usr/bin/env", arguments)
            // Its second note: there is something to go on from, and more behind it.
            await until { !process.isRunning || StoreFile.names(in: state).contains { $0.hasSuffix(".sum") } }
            process.signal(SIGKILL)
            process.end()
            for name in StoreFile.names(in: state) where name.hasSuffix(".part") {
                let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "\(state)/\(name)"))
                let length = try handle.seekToEnd()
                let place = random.next() % max(length, 1)
                try handle.seek(toOffset: place)
                let octet = try #require(handle.read(upToCount: 1)?.first)
                try handle.seek(toOffset: place)
                try handle.write(contentsOf: [octet ^ 1 << UInt8(random.next() % 8)])
                try handle.close()
                changes += 1
            }
            #expect(try ChildProcess("/usr/bin/env", arguments).waitForEnd() == 0)
            let data = try Data(contentsOf: URL(fileURLWithPath: destination), options: .alwaysMapped)
            #expect(data.count == size && isAlphabet(data))
            StoreFile.remove(destination)
        }
        #expect(changes >= 6)
    }
}
