import Testing

@testable import UncurlSemantics

@Suite("Resumed downloads")
struct ResumeRuleTests {
    private func decide(
        _ range: String = "bytes 5-9/10",
        tag: String? = nil,
        date: String? = nil,
        coding: String? = nil,
        validator: String
    ) -> Step.Placement? {
        ResumeRule.decide(
            status: 206,
            contentCoding: coding,
            contentRange: range,
            entityTag: tag,
            lastModified: date,
            contentLength: -1,
            validator: validator,
            received: 5,
            expected: -1
        )
    }

    @Test("an answer whose validator differs in an octet is of other content, also in another spelling of one text")
    func validators() {
        let (whole, parts) = ("\u{E9}", "e\u{301}")
        #expect(decide(tag: "\"\(whole)\"", validator: "\"\(whole)\"") == .rest(total: 10))
        #expect(decide(tag: "\"\(whole)\"", validator: "\"\(parts)\"") == nil)
        #expect(decide(date: whole, validator: whole) == .rest(total: 10))
        #expect(decide(date: whole, validator: parts) == nil)
        #expect(decide(tag: "\"x\"", date: whole, validator: whole) == .rest(total: 10))
        #expect(decide(validator: whole) == .rest(total: 10))
        let length = ResumeRule.wholeLength(
            ofPart: 5...9,
            status: 206,
            contentRange: "bytes 5-9/10",
            entityTag: "\"\(whole)\"",
            lastModified: nil,
            validator: "\"\(parts)\"",
            total: nil
        )
        #expect(length == nil)
        let tag = "\"\u{301}\u{316}\""
        #expect(ResumeRule.validator(entityTag: tag, lastModified: nil, date: nil, now: 0) == tag)
    }

    @Test("a range or a coding with combining marks is none that is known")
    func combiningMarks() {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for range in ["bytes 5-9/10\u{301}", "bytes\u{301} 5-9/10", "bytes 5-9/\u{301}10", "bytes 5-9/*\u{301}", run] {
            #expect(decide(range, validator: "\"a\"") == nil)
        }
        #expect(decide(coding: "identity", validator: "\"a\"") == .rest(total: 10))
        #expect(decide(coding: "identity\u{301}", validator: "\"a\"") == nil)
        #expect(decide(coding: run, validator: "\"a\"") == nil)
    }
}
