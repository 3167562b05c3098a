import Foundation
import Testing

@Suite struct WebSocketReplayTests {
    @Test("stored fuzz inputs of the WebSocket hold its property")
    func replay() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz").standardized
        var number = 0
        for folder in ["Corpus", "FailCases"] {
            let directory = fuzz.appending(path: "\(folder)/FuzzWebSocket")
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                webSocketProperty(Array(try Data(contentsOf: file)))
                number += 1
            }
        }
        #expect(number > 5)
    }
}
