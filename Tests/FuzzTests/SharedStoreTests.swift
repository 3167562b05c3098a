import FacadeTestSupport
import Foundation
import TestSupport
import Testing

/// Two processes write to one store and read it while one after the other is killed.
@Suite("Stores of two processes that are killed", .ownThread, .timeLimit(.minutes(10)))
struct SharedStoreTests {
    @Test(
        "two processes that share a store, killed at any moment, read what was written or nothing",
        arguments: ["cache", "cookies", "credentials"]
    )
    func killed(kind: String) throws {
        let folder = try TemporaryFolder()
        var random = SplitMix(seed: DamageCount.seed)
        // A process lives about as long as thirty changes of a file take.
        for _ in 0..<max(3, DamageCount.mutations / 100) {
            let writers = try (0..<2).map { _ in try store(folder.url.path, kind, seed: random.next(), nil) }
            for (writer, output) in writers {
                let moment = ContinuousClock.now + .milliseconds(Int(random.next() % 150))
                ChildProcess.wait { ContinuousClock.now >= moment || !writer.isRunning }
                #expect(writer.isRunning, "\(output.text)")
                writer.signal(SIGKILL)
                #expect(try writer.waitForEnd() == 128 + SIGKILL, "\(output.text)")
            }
        }
        let (last, output) = try store(folder.url.path, kind, seed: 1, 3)
        #expect(try last.waitForEnd() == 0, "\(output.text)")
    }

    private func store(
        _ folder: String,
        _ kind: String,
        seed: UInt64,
        _ count: Int?
    ) throws -> (ChildProcess, TemporaryFile) {
        let output = TemporaryFile()
        var words = ["XDG_DATA_HOME=\(folder)", "XDG_STATE_HOME=\(folder)", "XDG_CACHE_HOME=\(folder)"]
        words += [EndedProgram.built("Chaos"), "store", folder, kind] + (count.map { ["\($0)"] } ?? [])
        let process = try ChildProcess("/usr/bin/env", words + ["--seed", "\(seed >> 1)"], output: output.path)
        return (process, output)
    }
}

/// How much of the long run a test does: `tools/chaos stores` sets both.
enum DamageCount {
    static let mutations = ProcessInfo.processInfo.environment["UNCURL_MUTATIONS"].flatMap { Int($0) } ?? 300
    static let seed = ProcessInfo.processInfo.environment["UNCURL_SEED"].flatMap { UInt64($0) } ?? 0x6461_6d61
}
