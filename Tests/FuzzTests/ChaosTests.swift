import TestSupport
import Testing

/// A moment of `./dev chaos`.
@Suite("Chaos", .ownThread, .timeLimit(.minutes(5)))
struct ChaosTests {
    @Test("tasks of every kind on faulty servers, cancelled and robbed at random, each end once, and nothing is left")
    func tasks() throws {
        let run = try EndedProgram(built: "Chaos", ["2", "--seed", "7", "--tasks", "40"])
        #expect(run.status == 0, "\(run.out) \(run.err)")
        #expect(run.out.contains("verdict     clean"))
    }
}
