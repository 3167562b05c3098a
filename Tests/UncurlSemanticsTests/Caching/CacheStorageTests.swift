import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("What may be stored")
struct CacheStorageTests {
    private func permitted(
        _ response: HTTPFields,
        method: String = "GET",
        status: Int = 200,
        request: HTTPFields = fields()
    ) -> CacheStorage {
        CacheStorage.permitted(method: method, request: request, status: status, response: response)
    }

    private static let fresh = fields(("Cache-Control", "max-age=60"))

    @Test("only answers to GET are stored", arguments: ["HEAD", "POST", "PUT", "OPTIONS", "get", "QUERY"])
    func methods(method: String) {
        #expect(permitted(Self.fresh, method: method) == .none)
    }

    @Test("no-store, on either side, forbids it")
    func noStore() {
        #expect(permitted(fields(("Cache-Control", "max-age=60, no-store"))) == .none)
        #expect(permitted(Self.fresh, request: fields(("Cache-Control", "no-store"))) == .none)
    }

    @Test("private, and answers to Authorization, are for a private cache to keep")
    func privateAnswers() {
        #expect(permitted(fields(("Cache-Control", "private, max-age=60"))) == .everywhere)
        #expect(permitted(Self.fresh, request: fields(("Authorization", "x"))) == .everywhere)
    }

    @Test("Vary: * forbids it, and so does a Vary of more names than any server has use for")
    func varyAny() {
        func vary(_ count: Int) -> HTTPFields {
            let names = (0..<count).map { "x\($0)" }.joined(separator: ",")
            return fields(("Cache-Control", "max-age=60"), ("Vary", names))
        }
        #expect(permitted(vary(64)) == .everywhere)
        #expect(permitted(vary(65)) == .none)
        #expect(permitted(fields(("Cache-Control", "max-age=60"), ("Vary", "Accept, *"))) == .none)
    }

    @Test(
        "a status needs to be heuristically cacheable, or the response to say how long it lasts",
        arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    )
    func heuristic(status: Int) {
        #expect(permitted(fields(("ETag", "\"a\"")), status: status) == .everywhere)
    }

    @Test(
        "other statuses are stored only with explicit freshness",
        arguments: [201, 302, 303, 307, 400, 403, 500, 503]
    )
    func explicit(status: Int) {
        #expect(permitted(fields(("ETag", "\"a\"")), status: status) == .none)
        #expect(permitted(Self.fresh, status: status) == .everywhere)
    }

    @Test("parts, interim and 304 answers are not stored", arguments: [100, 103, 206, 304, 600, 999])
    func never(status: Int) {
        #expect(permitted(Self.fresh, status: status) == .none)
    }

    @Test("must-understand needs an understood status, and then overrides no-store")
    func mustUnderstand() {
        let response = fields(("Cache-Control", "must-understand, no-store, max-age=60"))
        #expect(permitted(response) == .everywhere)
        #expect(permitted(response, status: 299) == .none)
        #expect(permitted(fields(("Cache-Control", "must-understand, max-age=60")), status: 499) == .none)
    }

    @Test("what can neither last nor be asked about is not worth a file")
    func memoryOnly() {
        #expect(permitted(fields(("Content-Type", "text/plain"))) == .inMemory)
        #expect(permitted(fields(("Cache-Control", "max-age=0"))) == .inMemory)
        #expect(permitted(fields(("Cache-Control", "max-age=0"), ("ETag", "\"a\""))) == .everywhere)
        #expect(permitted(fields(("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"))) == .everywhere)
    }

    @Test("fields of the hop, and those that no-cache names, are not stored")
    func kept() {
        let response = fields(
            ("Connection", "close, X-Hop"),
            ("X-Hop", "1"),
            ("Keep-Alive", "timeout=5"),
            ("Transfer-Encoding", "chunked"),
            ("Proxy-Authentication-Info", "x"),
            ("Upgrade", "h2c"),
            ("Trailer", "X"),
            ("Proxy-Connection", "close"),
            ("Cache-Control", "no-cache=\"Set-Cookie\", max-age=5"),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("ETag", "\"a\"")
        )
        let kept = CacheStorage.kept(response)
        #expect(
            kept == fields(("Cache-Control", "no-cache=\"Set-Cookie\", max-age=5"), ("ETag", "\"a\""))
        )
    }

    @Test("the names that Connection and no-cache list are compared without case, however many there are")
    func keptNames() {
        let many = (0..<2000).map { "N\($0)" }.joined(separator: ",")
        let response = fields(
            ("X-First", "1"),
            ("n1999", "2"),
            ("connection", many),
            ("Cache-Control", "no-cache=\"x-private, X-OTHER\""),
            ("X-Private", "3"),
            ("n2000", "4"),
            ("x-other", "5"),
            ("N7", "6"),
            ("n7", "7"),
            ("PROXY-AUTHENTICATION-INFO", "8")
        )
        let kept = CacheStorage.kept(response)
        #expect(
            kept == fields(("X-First", "1"), ("Cache-Control", "no-cache=\"x-private, X-OTHER\""), ("n2000", "4"))
        )
        #expect(!kept.contains(.connection) && kept.contains(.cacheControl))
    }
}
