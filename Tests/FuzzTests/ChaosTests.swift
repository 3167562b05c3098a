import Foundation
import TestSupport
import Testing

/// A moment of `tools/chaos`.
@Suite("Chaos", .ownThread, .timeLimit(.minutes(5)))
struct ChaosTests {
    @Test("tasks of every kind on faulty servers, cancelled and robbed at random, each end once, and nothing is left")
    func tasks() throws {
        let clock = TemporaryFile()
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let clang = "\"$(dirname \"$(readlink -f \"$(command -v swift)\")\")/clang\""
        let built = try EndedProgram(shell: "\(clang) -shared -fPIC -o \(clock.path) '\(root.path)/Fuzz/clock.c'")
        #expect(built.status == 0)
        let words = [EndedProgram.built("Chaos"), "2", "--seed", "7", "--tasks", "40"]
        let run = try EndedProgram("/usr/bin/env", ["UNCURL_CHAOS_CLOCK=\(clock.path)"] + words)
        #expect(run.status == 0, "\(run.out) \(run.err)")
        #expect(run.out.contains("verdict     clean"))
        // The clock could be stepped.
        #expect(run.out.contains(#/the right time \d/#), "\(run.out)")
    }
}
