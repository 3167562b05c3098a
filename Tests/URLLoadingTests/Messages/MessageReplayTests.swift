import Foundation
import Testing

@Suite("MessageReplay")
struct MessageReplayTests {
    private func inputs() throws -> [[UInt8]] {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fuzz").standardized
        return try ["Corpus", "FailCases"].flatMap { folder in
            let directory = fuzz.appending(path: "\(folder)/FuzzMessages")
            let files =
                (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
            return try files.map { Array(try Data(contentsOf: $0)) }
        }
    }

    @Test("stored fuzz inputs of cookies, file names and fields hold their property")
    func replay() throws {
        let inputs = try inputs()
        for input in inputs { messageProperty(input) }
        #expect(inputs.count > 8)
    }

    @Test("each of them holds it when it is repeated to 64 KiB, and takes linear time", .timeLimit(.minutes(5)))
    func long() throws {
        for input in try inputs() where !input.isEmpty {
            let long = [input[0]] + (0...(64 << 10) / input.count).flatMap { _ in input.dropFirst() }
            let start = ContinuousClock.now
            messageProperty(long)
            #expect(ContinuousClock.now - start < .seconds(5), "\(input.prefix(40))")
        }
    }
}
