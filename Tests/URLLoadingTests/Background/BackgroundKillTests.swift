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
}
