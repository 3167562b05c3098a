import Foundation
import Testing

@Suite("MessageReplay")
struct MessageReplayTests {
    @Test("stored fuzz inputs of cookies, file names and fields hold their property")
    func replay() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fuzz").standardized
        var number = 0
        for folder in ["Corpus", "FailCases"] {
            let directory = fuzz.appending(path: "\(folder)/FuzzMessages")
            let files =
                (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
            for file in files {
                messageProperty(Array(try Data(contentsOf: file)))
                number += 1
            }
        }
        #expect(number > 8)
    }
}
