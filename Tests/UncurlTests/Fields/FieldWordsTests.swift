import Foundation
import Testing

@testable import Uncurl

@Suite("Words of fields that are not ASCII")
struct FieldWordsTests {
    /// The Kelvin sign is a k in lower case.
    private let kelvin = "\u{212A}"
    private let run = String(repeating: "\u{301}\u{316}", count: 1_000)

    @Test("such a charset is unknown")
    func charsets() {
        #expect(String.Encoding(charset: "KOI8-R") != nil)
        for charset in ["\(kelvin)OI8-R", "utf-8\u{301}", run] { #expect(String.Encoding(charset: charset) == nil) }
    }

    @Test("such a media type is none, but parameters may be anything")
    func mediaTypes() throws {
        for type in ["text/mar\(kelvin)down", "text/a\u{301}", "text/\u{301}a", run] {
            #expect(MediaRange(type) == nil)
        }
        let markdown = try #require(MediaRange("text/markdown;\u{301}a=\(run)"))
        #expect(try #require(MediaRange("text/*")).contains(markdown))
    }
}
