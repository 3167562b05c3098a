import TestSupport
import Testing
import Uncurl

/// The order of all calls that the observers of a task get, by course and door. Texts are in `Tests/Recorded`.
@Suite("Recorded calls", .ownThread, .timeLimit(.minutes(10)))
struct RecordedCallsTests {
    @Test("the observers of a data task get the recorded calls", arguments: Door.allCases)
    func data(door: Door) async throws { try await expect(Course.all + Course.secure(), by: door, "data") }

    @Test("the observers of an upload and of a download get the recorded calls", arguments: Door.allCases)
    func kinds(door: Door) async throws {
        // An operation keeps its answer in memory.
        let courses = Course.ofKinds.filter { door != .operation || $0.kind == .upload }
        try await expect(courses, by: door, "files")
    }

    @Test("the observers of WebSockets, streams and rests get the recorded calls")
    func others() async throws { try Recording.expect(try await OtherCalls.blocks(), recordedAs: "calls-others") }

    private func expect(_ courses: [Course], by door: Door, _ name: String) async throws {
        var blocks: [(label: String, text: String)] = []
        for course in courses { blocks.append(("\(course.kind) \(course.label)", try await door.run(course))) }
        try Recording.expect(blocks, recordedAs: "calls-\(name)-\(door)")
    }
}
