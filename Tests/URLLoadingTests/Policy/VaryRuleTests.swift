import HTTP1
import Testing

@testable import URLLoading

@Suite("Vary")
struct VaryRuleTests {
    private let request = fields(("Accept-Language", "en"), ("Accept", "a,b"), ("Accept", "c"))

    @Test("the request's fields that Vary names are selected, absent ones included, each once (row 110)")
    func selection() {
        let response = fields(("Vary", "Accept-Language, accept"), ("Vary", "X-Absent, ACCEPT"))
        #expect(
            VaryRule.select(request, varying: response) == [
                VaryingField(name: "accept-language", value: "en"), VaryingField(name: "accept", value: "a,b,c"),
                VaryingField(name: "x-absent", value: nil),
            ]
        )
    }

    @Test(
        "a request matches with the same fields, however they were divided into lines (row 110)",
        arguments: [
            (fields(("Accept-Language", "en"), ("Accept", "a, b ,c")), true),
            (fields(("accept-language", "en"), ("Accept", "a,b"), ("Accept", "c"), ("X-Other", "1")), true),
            (fields(("Accept-Language", "de"), ("Accept", "a,b,c")), false),
            (fields(("Accept", "a,b,c")), false),
            (fields(("Accept-Language", "en"), ("Accept", "a,b,c"), ("X-Absent", "")), false),
            (fields(("Accept-Language", "EN"), ("Accept", "a,b,c")), false),
        ]
    )
    func matching(next: HTTPFields, matches: Bool) {
        let stored = VaryRule.select(request, varying: fields(("Vary", "Accept-Language, Accept, X-Absent")))
        #expect(VaryRule.matches(stored, next) == matches)
    }

    @Test("a star matches nothing; no Vary matches everything")
    func extremes() {
        #expect(!VaryRule.matches(VaryRule.select(request, varying: fields(("Vary", "*"))), request))
        #expect(VaryRule.matches(VaryRule.select(request, varying: fields()), fields()))
    }
}
