import HTTP1
import Testing

@testable import URLLoading

@Suite("CachedURLResponse")
struct CachedURLResponseTests {
    @Test("it holds what it was given, and copies are itself")
    func holding() throws {
        let entry = try CacheEntries.entry(userInfo: ["a": 1])
        #expect(entry.data.count == 10 && entry.storagePolicy == .allowed && entry.userInfo?["a"] as? Int == 1)
        #expect(entry.copy() as AnyObject === entry)
        let plain = CachedURLResponse(response: entry.response, data: entry.data)
        #expect(plain == entry && plain.hash == entry.hash && plain.userInfo == nil)
        #expect(plain != CachedURLResponse(response: entry.response, data: Data()))
        #expect(plain != CachedURLResponse(response: entry.response, data: entry.data, storagePolicy: .notAllowed))
        #expect(!plain.isEqual("x"))
    }

    @Test("what a session stores lacks the fields of the hop, and knows what it varies by")
    func received() throws {
        let entry = try CacheEntries.received(fields(("Connection", "close"), ("Vary", "Accept"), ("ETag", "\"a\"")))
        let response = try #require(entry.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "Connection") == nil)
        #expect(entry.exchange?.record.varying == [VaryingField(name: "accept", value: "a,b")])
    }

    @Test("a served response says how old it is (RFC 9111 §4)")
    func age() throws {
        let entry = try CacheEntries.received(fields(("Age", "1"), ("ETag", "\"a\"")))
        let served = try #require(entry.served(age: 17) as? HTTPURLResponse)
        #expect(served.value(forHTTPHeaderField: "Age") == "17")
        #expect((entry.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Age") == "1")
    }

    @Test("after a 304 the content is the old one, the fields are the new ones")
    func updated() throws {
        let entry = try CacheEntries.received(fields(("ETag", "\"a\""), ("X-Old", "1")))
        let old = try #require(entry.exchange)
        let news = fields(("ETag", "\"a\""), ("X-New", "1"))
        let new = entry.updated(try #require(CacheValidation.freshened(old, by: news, requested: 5, received: 6)))
        let response = try #require(new.response as? HTTPURLResponse)
        #expect(new.data == entry.data && response.statusCode == 200)
        #expect(
            response.value(forHTTPHeaderField: "x-new") == "1" && response.value(forHTTPHeaderField: "x-old") == "1"
        )
        #expect(new.record?.received == 6)
    }
}
