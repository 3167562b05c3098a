import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

@Suite("Making cached responses")
struct CachedResponseMakingTests {
    private func received(_ response: HTTPFields, _ storage: CacheStorage = .everywhere) throws -> CachedURLResponse {
        let asked = fields(("Accept", "a, b"))
        return CachedURLResponse(
            HTTPURLResponse(
                LocatedHead(try ResponseHead(status: 200, fields: response), "http://h/"),
                try url("http://h/")
            ),
            data: Data("body".utf8),
            storage,
            VaryRule.usual.record(of: asked, varying: response, requested: 100, received: 101)
        )
    }

    @Test("a server's response is kept without hop-by-hop fields, and with the fields that it varies by")
    func making() throws {
        let entry = try received(fields(("Connection", "close"), ("Vary", "Accept"), ("ETag", "\"a\"")))
        let response = try #require(entry.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "Connection") == nil && response.statusCode == 200)
        let varying = [VaryingField(name: "accept", value: "a,b")]
        #expect(entry.record == CacheRecord(varying: varying, requested: 100, received: 101))
        #expect(entry.storagePolicy == .allowed)
        #expect(try received(fields(), .inMemory).storagePolicy == .allowedInMemoryOnly)
        #expect(try received(fields(), .none).storagePolicy == .notAllowed)
    }

    @Test("a response without Date is kept with the time at which it came (RFC 9110 §6.6.1)")
    func date() throws {
        for (sent, kept) in [(nil, "Thu, 01 Jan 1970 00:01:41 GMT"), ("Thu, 01 Jan 1970 00:01:40 GMT", nil)] {
            let entry = try received(sent.map { fields(("Date", $0)) } ?? fields())
            let response = try #require(entry.response as? HTTPURLResponse)
            #expect(response.value(forHTTPHeaderField: "Date") == kept ?? sent)
        }
    }

    @Test("a served response says how old it is (RFC 9111 §4)")
    func age() throws {
        let entry = try received(fields(("Age", "1"), ("ETag", "\"a\"")))
        let served = try #require(entry.served(age: 17) as? HTTPURLResponse)
        #expect(served.value(forHTTPHeaderField: "Age") == "17")
        #expect((entry.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Age") == "1")
    }

    @Test("after a 304 the content is the old one, and the fields are the new ones")
    func updated() throws {
        let entry = try received(fields(("ETag", "\"a\""), ("X-Old", "1")))
        let old = try #require(entry.answer)
        let news = fields(("ETag", "\"a\""), ("X-New", "1"))
        let fresh = try #require(CacheRule.freshened(old.exchange, by: news, requested: 5, received: 6))
        let new = try #require(CachedURLResponse(old.updated(fresh, for: fields(), .usual)))
        let response = try #require(new.response as? HTTPURLResponse)
        #expect(new.data == entry.data && response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "x-new") == "1")
        #expect(response.value(forHTTPHeaderField: "x-old") == "1")
        #expect(new.record?.received == 6)
    }
}
