import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Vary")
struct VaryRuleTests {
    private let request = fields(("Accept-Language", "en"), ("Accept", "a,b"), ("Accept", "c"))

    @Test("the request's fields that Vary names are selected, absent ones included, each once")
    func selection() {
        let response = fields(("Vary", "Accept-Language, accept"), ("Vary", "X-Absent, ACCEPT"))
        #expect(
            VaryRule.usual.select(request, varying: response) == [
                VaryingField(name: "accept-language", value: "en"), VaryingField(name: "accept", value: "a,b,c"),
                VaryingField(name: "x-absent", value: nil),
            ]
        )
    }

    @Test(
        "a request matches with the same fields, however they were divided into lines",
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
        let stored = VaryRule.usual.select(request, varying: fields(("Vary", "Accept-Language, Accept, X-Absent")))
        #expect(VaryRule.usual.matches(stored, next) == matches)
    }

    @Test("a star matches nothing; no Vary matches everything")
    func extremes() {
        #expect(!VaryRule.usual.matches(VaryRule.usual.select(request, varying: fields(("Vary", "*"))), request))
        #expect(VaryRule.usual.matches(VaryRule.usual.select(request, varying: fields()), fields()))
    }

    @Test("a Vary of thousands of names is a star: it is neither looked through nor stored")
    func tooLong() {
        let names = (0..<5_000).map { "x\($0)" }.joined(separator: ",")
        #expect(VaryRule.usual.select(request, varying: fields(("Vary", names))).map(\.name) == ["*"])
        let most = (0..<64).map { "x\($0)" }.joined(separator: ",")
        #expect(VaryRule.usual.select(request, varying: fields(("Vary", most))).count == 64)
    }

    @Test(
        "a response with Content-Encoding is for requests with the same Accept-Encoding, whether Vary names it or not"
    )
    func codings() {
        let (plain, own) = (fields(), fields(("Accept-Encoding", "gzip")))
        for response in [
            fields(("Content-Encoding", "gzip")), fields(("Content-Encoding", "gzip"), ("Vary", "accept-encoding")),
        ] {
            for (asked, other) in [(plain, own), (own, plain)] {
                let record = VaryRule.usual.record(of: asked, varying: response, requested: 1, received: 2)
                #expect(record.varying.map(\.name) == ["accept-encoding"])
                #expect(VaryRule.usual.matches(record, asked) && !VaryRule.usual.matches(record, other))
            }
        }
        let uncoded = VaryRule.usual.record(of: own, varying: fields(), requested: 1, received: 2)
        #expect(VaryRule.usual.matches(uncoded, plain))
    }

    @Test("users whose cookies differ in octets that are no UTF-8 are different users")
    func octets() {
        let (mine, other) = (
            fields("Cookie", octets: [0x61, 0x3D, 0xE8]), fields("Cookie", octets: [0x61, 0x3D, 0xE9])
        )
        let record = VaryRule.usual.record(of: mine, varying: fields(), requested: 1, received: 2)
        #expect(VaryRule.usual.matches(record, mine) && !VaryRule.usual.matches(record, other))
    }

    private static let alice = fields(("Authorization", "Bearer alice"), ("Accept", "a"))

    @Test("a field that identifies the user is stored as if Vary had named it, as a digest of its value")
    func identifying() {
        let record = VaryRule.usual.record(
            of: Self.alice,
            varying: fields(("Vary", "Accept")),
            requested: 1,
            received: 2
        )
        #expect(record.varying.map(\.name) == ["accept", "authorization"] && !record.isForAnyone)
        #expect(record.varying.map(\.isSecret) == [false, true])
        #expect(record.varying[1].value?.count == 64)
        #expect(VaryRule.usual.matches(record, Self.alice))
        #expect(!VaryRule.usual.matches(record, fields(("Authorization", "Bearer bob"), ("Accept", "a"))))
        #expect(!VaryRule.usual.matches(record, fields(("Accept", "a"))))
    }

    @Test("a field that the session calls secret names its user, and one that it does not call so names none")
    func ownSecrets() {
        let mine = VaryRule(SecretFields(["X-Mine"]))
        let record = mine.record(of: fields(("X-Mine", "alice")), varying: fields(), requested: 1, received: 2)
        #expect(record.varying.map(\.name) == ["x-mine"] && record.varying[0].isSecret)
        #expect(mine.matches(record, fields(("x-mine", "alice"))))
        #expect(!mine.matches(record, fields(("X-Mine", "bob"))) && !mine.matches(record, fields()))
        // Another session's list does not open what this one has closed.
        #expect(!VaryRule.usual.matches(record, fields(("X-Mine", "bob"))))
        #expect(mine.record(of: fields(("X-API-Key", "a")), varying: fields(), requested: 1, received: 2).varying == [])
    }

    @Test("one value in two fields makes two digests")
    func digests() {
        let both = fields(("Authorization", "x"), ("Cookie", "x"))
        let record = VaryRule.usual.record(of: both, varying: fields(), requested: 1, received: 2)
        #expect(record.varying.count == 2 && record.varying[0].value != record.varying[1].value)
    }

    @Test(
        "a stored answer without a user also serves requests that only cookies identify",
        arguments: [
            (fields(("Cookie", "a=1")), true), (fields(("Authorization", "x")), false),
            (fields(("Cookie", "a=1"), ("Authorization", "x")), false), (fields(), true),
        ]
    )
    func nobody(next: HTTPFields, matches: Bool) {
        let record = VaryRule.usual.record(of: fields(), varying: fields(), requested: 1, received: 2)
        #expect(VaryRule.usual.matches(record, next) == matches)
    }

    @Test(
        "public makes an answer everyone's, but for the fields that Vary names, and unless it sets a cookie",
        arguments: [
            (fields(("Cache-Control", "public")), true), (fields(("Cache-Control", "private")), false),
            (fields(("Cache-Control", "public"), ("Vary", "Authorization")), false),
            (fields(("Cache-Control", "public"), ("Set-Cookie", "a=1")), false),
        ]
    )
    func everyones(response: HTTPFields, matches: Bool) {
        let record = VaryRule.usual.record(of: Self.alice, varying: response, requested: 1, received: 2)
        #expect(VaryRule.usual.matches(record, fields(("Authorization", "Bearer bob"))) == matches)
    }

    @Test("a member of Vary that is not ASCII is no field's name")
    func otherLetters() {
        // The Kelvin sign is a k in lower case.
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        let response = fields(("Vary", "X-\u{212A}ey, Accept\u{301}, *\u{301}, \(run), Accept-Language"))
        let selected = VaryRule.usual.select(request, varying: response)
        #expect(selected == [VaryingField(name: "accept-language", value: "en")])
        #expect(VaryRule.usual.matches(selected, request))
    }
}
