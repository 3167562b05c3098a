import Foundation
import Testing

@Suite("Stored fuzz inputs of the content decoder")
struct DecoderReplayTests {
    @Test("every one, those that once failed above all, holds the property")
    func replay() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz").standardized
        var number = 0
        for folder in ["Corpus", "FailCases"] {
            let directory = fuzz.appending(path: "\(folder)/FuzzContentDecoder")
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                decoderProperty(Array(try Data(contentsOf: file)))
                number += 1
            }
        }
        #expect(number > 5)
    }
}
