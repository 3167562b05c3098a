import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Cache decisions")
struct CacheRuleTests {
    static let date = CacheFreshnessTests.date
    private static let dated = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")

    private func stored(_ control: String?, _ more: (String, String)..., varying: [VaryingField] = []) -> StoredExchange
    {
        var all = fields(Self.dated)
        if let control { try? all.append("Cache-Control", control) }
        for (name, value) in more { try? all.append(name, value) }
        let record = CacheRecord(varying: varying, requested: Self.date, received: Self.date)
        return StoredExchange(status: 200, fields: all, record: record)
    }

    /// A decision in a word or two.
    private func decide(
        _ stored: StoredExchange?,
        _ request: HTTPFields = fields(),
        mode: CacheMode = .standard,
        method: String = "GET",
        after seconds: Int64 = 0,
        usesHeuristics: Bool = false
    ) -> String {
        let decision = CacheRule.decide(
            method: method,
            request: request,
            mode: mode,
            stored: stored,
            now: Self.date + seconds,
            usesHeuristics: usesHeuristics
        )
        switch decision {
        case .serve(let age, let isStale, let refresh):
            return "serve \(age)" + (isStale ? " stale" : "") + (refresh == nil ? "" : " and refresh")
        case .validate(let conditions, let mayServeStale):
            let values = conditions.map { String(decoding: $0.value, as: UTF8.self) }
            return "validate \(values.joined(separator: " "))" + (mayServeStale ? " or stale" : "")
        case .load(let mayServeStale): return "load" + (mayServeStale ? " or stale" : "")
        case .failNothingStored: return "fail"
        case .answerGatewayTimeout: return "504"
        }
    }

    private static let tag = ("ETag", "\"a\"")

    @Test("a response with max-age=3600 is served the second time without a request")
    func secondTime() {
        #expect(decide(nil) == "load")
        #expect(decide(stored("max-age=3600"), after: 60) == "serve 60")
        #expect(decide(stored("max-age=3600"), after: 3600) == "load")
        #expect(decide(stored("max-age=3600", Self.tag), after: 3600) == "validate \"a\"")
    }

    @Test(
        "each mode does what it says, with something fresh, something stale and nothing stored",
        arguments: [
            (.standard, "serve 5", "validate \"a\"", "load"),
            (.bypass, "load", "load", "load"),
            (.reload, "load", "load", "load"),
            (.preferStored, "serve 5", "serve 99 stale", "load"),
            (.onlyStored, "serve 5", "serve 99 stale", "fail"),
            (.revalidate, "validate \"a\"", "validate \"a\"", "load"),
        ] as [(CacheMode, String, String, String)]
    )
    func policies(mode: CacheMode, fresh: String, stale: String, nothing: String) {
        let response = stored("max-age=60", Self.tag)
        #expect(decide(response, mode: mode, after: 5) == fresh)
        #expect(decide(response, mode: mode, after: 99) == stale)
        #expect(decide(nil, mode: mode) == nothing)
    }

    @Test("only the modes that ignore or validate what remote caches have tell them so, unless the caller has spoken")
    func additions() {
        let mode = CacheMode.reload
        #expect(CacheRule.additions(mode, fields()).map(\.name) == ["Cache-Control", "Pragma"])
        #expect(CacheRule.additions(mode, fields(("Cache-Control", "max-age=0"))).isEmpty)
        let revalidating = CacheRule.additions(.revalidate, fields())
        #expect(revalidating.map(\.name) == ["Cache-Control"])
        #expect(revalidating.map { String(decoding: $0.value, as: UTF8.self) } == ["max-age=0"])
        #expect(CacheRule.additions(.revalidate, fields(("Cache-Control", "max-age=9"))).isEmpty)
        for mode in [CacheMode.standard, .bypass, .preferStored, .onlyStored] {
            #expect(CacheRule.additions(mode, fields()).isEmpty)
        }
    }

    @Test(
        "what the request says of age counts",
        arguments: [
            // The request's Cache-Control, how old the response (lifetime 60) is, what becomes of it.
            ("no-cache", 5, "validate \"a\""), ("no-store", 5, "load"), ("max-age=5", 5, "serve 5"),
            ("max-age=4", 5, "validate \"a\""), ("max-age=x", 5, "validate \"a\""), ("max-age=0", 0, "serve 0"),
            ("min-fresh=55", 5, "serve 5"), ("min-fresh=56", 5, "validate \"a\""), ("min-fresh=x", 5, "validate \"a\""),
            ("max-stale", 999, "serve 999 stale"), ("max-stale=9", 69, "serve 69 stale"),
            ("max-stale=9", 70, "validate \"a\""), ("max-stale, max-age=9", 70, "validate \"a\""),
            ("only-if-cached", 5, "serve 5"), ("only-if-cached", 70, "504"),
            ("only-if-cached, max-stale", 70, "serve 70 stale"),
            ("only-if-cached, no-cache", 5, "504"),
        ] as [(String, Int64, String)]
    )
    func requestDirectives(line: String, age: Int64, expected: String) {
        #expect(decide(stored("max-age=60", Self.tag), fields(("Cache-Control", line)), after: age) == expected)
    }

    @Test("only-if-cached with nothing stored is a 504")
    func onlyIfCached() {
        #expect(decide(nil, fields(("Cache-Control", "only-if-cached"))) == "504")
    }

    @Test("Pragma: no-cache in a request is no-cache")
    func pragma() {
        #expect(decide(stored("max-age=60", Self.tag), fields(("Pragma", "no-cache"))) == "validate \"a\"")
    }

    @Test(
        "what the response says of its use counts",
        arguments: [
            // The response's Cache-Control, the request's, the age, what becomes of it.
            ("no-cache, max-age=60", "", 5, "validate \"a\""),
            ("no-cache=\"X-A\", max-age=60", "", 5, "validate \"a\""),
            ("no-cache, max-age=60", "max-stale", 5, "validate \"a\""),
            ("must-revalidate, max-age=60", "", 5, "serve 5"),
            ("must-revalidate, max-age=60", "max-stale", 70, "validate \"a\""),
            ("must-revalidate, max-age=60, stale-if-error=99, stale-while-revalidate=99", "", 70, "validate \"a\""),
            ("immutable, max-age=60", "max-age=0", 5, "serve 5"),
            ("immutable, max-age=60", "no-cache", 5, "validate \"a\""),
            ("immutable, max-age=60", "max-age=0", 70, "validate \"a\""),
            ("max-age=60, stale-while-revalidate=10", "", 70, "serve 70 stale and refresh"),
            ("max-age=60, stale-while-revalidate=10", "", 71, "validate \"a\""),
            ("max-age=60, stale-while-revalidate=10", "max-age=99", 70, "validate \"a\""),
            ("max-age=60, stale-if-error=10", "", 70, "validate \"a\" or stale"),
            ("max-age=60, stale-if-error=10", "", 71, "validate \"a\""),
            ("max-age=60", "stale-if-error=10", 70, "validate \"a\" or stale"),
        ] as [(String, String, Int64, String)]
    )
    func responseDirectives(line: String, wish: String, age: Int64, expected: String) {
        let request = wish.isEmpty ? fields() : fields(("Cache-Control", wish))
        #expect(decide(stored(line, Self.tag), request, after: age) == expected)
    }

    @Test("without a validator nothing can be asked about, but a stale response may still stand in for an error")
    func noValidator() {
        #expect(decide(stored("max-age=60, stale-if-error=10"), after: 70) == "load or stale")
        #expect(decide(stored("max-age=60"), mode: .revalidate) == "load")
    }

    @Test("which errors a stale response stands in for (RFC 5861 §4)")
    func errors() {
        #expect([500, 502, 503, 504].allSatisfy(CacheRule.isError))
        #expect(![200, 304, 404, 501, 505, 599].contains(where: CacheRule.isError))
    }

    @Test("a response selected by other fields is not this request's, whatever the mode")
    func varying() {
        let response = stored("max-age=60", varying: [VaryingField(name: "accept-language", value: "en")])
        #expect(decide(response, fields(("Accept-Language", "en"))) == "serve 0")
        #expect(decide(response, fields(("Accept-Language", "de"))) == "load")
        #expect(decide(response, mode: .onlyStored) == "fail")
    }

    @Test("other methods, conditions of the caller's own, and ranges go to the server")
    func passedThrough() {
        let response = stored("max-age=60", Self.tag)
        #expect(decide(response, method: "HEAD") == "load")
        #expect(decide(response, method: "POST") == "load")
        #expect(decide(response, fields(("If-None-Match", "\"z\""))) == "load")
        #expect(decide(response, fields(("Range", "bytes=0-1"))) == "load")
        #expect(decide(response, fields(("Range", "bytes=0-1")), mode: .onlyStored) == "fail")
    }

    @Test("a guessed lifetime serves like a stated one, where heuristics are used")
    func heuristic() {
        let response = stored(nil, ("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"))
        #expect(decide(response, after: 8639, usesHeuristics: true) == "serve 8639")
        #expect(decide(response, after: 1) == "validate Sat, 05 Nov 1994 08:49:37 GMT")
        #expect(decide(response, after: 8640, usesHeuristics: true) == "validate Sat, 05 Nov 1994 08:49:37 GMT")
    }
}
