import HTTP1
import HTTPSemantics
import Testing

@testable import URLLoading

@Suite("CachedURLResponse")
struct CachedURLResponseTests {
    @Test("it holds what it was given, and a copy is the same object")
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

    @Test("only a response that came by HTTP and is in a cache can be judged by the rules of HTTP caching")
    func exchange() throws {
        let received = try CacheEntries.received(fields(("Vary", "Accept"), ("ETag", "\"a\"")))
        #expect(received.exchange?.record.varying == [VaryingField(name: "accept", value: "a,b")])
        #expect(received.exchange?.status == 200 && received.exchange?.fields["etag"] == "\"a\"")
        let made = try CacheEntries.entry()
        #expect(made.exchange == nil)
        let kept = made.with(CacheRecord(varying: [], requested: 1, received: 2))
        #expect(kept == made && kept.exchange?.record.received == 2)
    }

    @Test("its cost in memory is more than its content")
    func cost() throws {
        let small = try CacheEntries.entry("http://h/", 10)
        #expect(small.cost > 10)
        #expect(try CacheEntries.entry("http://h/", 1010).cost == small.cost + 1000)
        #expect(try CacheEntries.entry(userInfo: ["a": 1]).cost > small.cost)
    }
}
