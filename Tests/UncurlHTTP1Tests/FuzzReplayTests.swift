import Foundation
import Testing

/// Every stored fuzz input, those that once failed above all, through the property it was found with.
@Suite struct FuzzReplayTests {
    @Test(
        "stored inputs hold their property",
        arguments: [
            ("FuzzResponse", responseProperty), ("FuzzRequest", requestProperty), ("FuzzSplit", splitProperty),
            ("FuzzChunked", chunkedProperty), ("FuzzRoundTrip", roundTripProperty),
        ] as [(String, @Sendable ([UInt8]) -> Void)]
    )
    func replay(target: String, property: @Sendable ([UInt8]) -> Void) throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz").standardized
        var number = 0
        for folder in ["Corpus", "FailCases"] {
            let directory = fuzz.appending(path: "\(folder)/\(target)")
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                property(Array(try Data(contentsOf: file)))
                number += 1
            }
        }
        #expect(number > 0)
    }
}
