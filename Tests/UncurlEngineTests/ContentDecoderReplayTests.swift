import Foundation
import Testing

@Suite struct ContentDecoderReplayTests {
    @Test("stored fuzz inputs of the content decoder hold its property")
    func replay() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz").standardized
        var number = 0
        for folder in ["Corpus", "FailCases"] {
            let directory = fuzz.appending(path: "\(folder)/FuzzContentDecoder")
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                contentDecoderProperty(Array(try Data(contentsOf: file)))
                number += 1
            }
        }
        #expect(number > 5)
    }
}
