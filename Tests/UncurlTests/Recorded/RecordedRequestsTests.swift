import TestSupport
import Testing

/// The octets of requests: by method, content, door, fields and URL, and those of sequences. Texts are in
/// `Tests/Recorded`.
@Suite("Recorded requests", .ownThread, .timeLimit(.minutes(10)))
struct RecordedRequestsTests {
    struct Group: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cases: @Sendable () -> [RecordedCase]
    }

    private static let groups = [
        Group(testDescription: "requests-engine") { EngineCases.all },
        Group(testDescription: "requests-session") { SessionCases.all },
        Group(testDescription: "requests-facade") { FacadeCases.all },
        Group(testDescription: "requests-sequences") { SequenceCases.all },
    ]

    @Test("every request of a group is sent with the recorded octets", arguments: groups)
    func octets(group: Group) async throws {
        var blocks: [(label: String, text: String)] = []
        for one in group.cases() { blocks.append(try await one.block()) }
        try Recording.expect(blocks, recordedAs: group.testDescription)
    }
}
