import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

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
        #expect(received.answer?.exchange.record.varying == [VaryingField(name: "accept", value: "a,b")])
        #expect(received.answer?.exchange.status == 200 && received.answer?.exchange.fields["etag"] == "\"a\"")
        let made = try CacheEntries.entry()
        #expect(made.answer == nil)
        let kept = made.with(CacheRecord(varying: [], requested: 1, received: 2))
        #expect(kept == made && kept.answer?.exchange.record.received == 2)
    }

    private func archived(_ response: CachedURLResponse) throws -> CachedURLResponse? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: CachedURLResponse.self, from: data)
    }

    @Test("an archive keeps head, content, policy and notes")
    func archive() throws {
        let notes: [AnyHashable: Any] = ["a": 1, "b": ["c", Data([1])] as [Any]]
        let entry = try CacheEntries.entry(policy: .allowedInMemoryOnly, userInfo: notes)
        let copy = try #require(try archived(entry))
        #expect(copy == entry && (copy.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(copy.userInfo?["a"] as? Int == 1 && (copy.userInfo?["b"] as? [Any])?.last as? Data == Data([1]))
        let plain = URLResponse(url: try url("x://h"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        #expect(try archived(CachedURLResponse(response: plain, data: Data()))?.response == plain)
    }

    @Test("an archive leaves out notes that no file can hold, and one without a head or with another policy is refused")
    func brokenArchive() throws {
        let entry = try CacheEntries.entry(userInfo: ["a": NSObject()])
        let copy = try #require(try archived(entry))
        #expect(copy == entry && copy.userInfo == nil)
        for (key, value) in [("response", nil), ("storagePolicy", NSNumber(value: 9))] as [(String, NSNumber?)] {
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            if key != "response" { coder.encode(entry.response, forKey: "response") }
            coder.encode(NSData(), forKey: "data")
            coder.encode(value ?? NSNumber(value: 0), forKey: "storagePolicy")
            let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
            decoder.requiresSecureCoding = true
            #expect(CachedURLResponse(coder: decoder) == nil)
        }
    }

    @Test("its cost in memory is more than its content")
    func cost() throws {
        let small = try CacheEntries.entry("http://h/", 10)
        #expect(small.cost > 10)
        #expect(try CacheEntries.entry("http://h/", 1010).cost == small.cost + 1000)
        #expect(try CacheEntries.entry(userInfo: ["a": 1]).cost > small.cost)
    }
}
