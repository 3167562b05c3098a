import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

@Suite("Cache files")
struct CacheFileTests {
    private let key = CacheKey(method: "GET", url: "http://h/")
    private let time = Date(timeIntervalSince1970: 1_000_000.25)

    private func bytes(of entry: CachedURLResponse) throws -> [UInt8] {
        try #require(CacheFile.encode(entry, for: key, stored: time))
    }

    @Test("a response from a server comes back octet for octet, with what is needed to judge it")
    func received() throws {
        var odd = fields(("ETag", "\"a\""), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Vary", "Accept, X"))
        try odd.append(name: Array("X-Odd".utf8).span, value: [0xE4, 0xFF].span)
        let entry = try CacheEntries.received(odd)
        let back = try #require(CacheFile.decode(try bytes(of: entry), for: key))
        #expect(back == entry)
        #expect(back.record == entry.record)
        #expect(
            back.record
                == CacheRecord(
                    varying: [VaryingField(name: "accept", value: "a,b"), VaryingField(name: "x", value: nil)],
                    requested: 100,
                    received: 101
                )
        )
        #expect(back.answer?.exchange.fields == odd)
        #expect(CacheFile.stored(try bytes(of: entry)) == time)
    }

    @Test("a response that a program made comes back, too")
    func given() throws {
        let plain = URLResponse(
            url: try url("file:///x"),
            mimeType: "text/a",
            expectedContentLength: 7,
            textEncodingName: "utf-8"
        )
        let entry = CachedURLResponse(response: plain, data: Data([1]), userInfo: ["n": 1], storagePolicy: .allowed)
        let back = try #require(CacheFile.decode(try bytes(of: entry), for: key))
        #expect(back == entry && back.response.suggestedFilename == "x" && back.userInfo?["n"] as? Int == 1)
        #expect(!(back.response is HTTPURLResponse) && back.record == nil)
        let made = try CacheEntries.entry()
        let madeBack = try #require(CacheFile.decode(try bytes(of: made), for: key))
        #expect(madeBack == made)
        #expect((madeBack.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "etag") == "\"a\"")
    }

    @Test("an empty body is a body")
    func empty() throws {
        let entry = try CacheEntries.received(fields(), data: Data())
        #expect(try CacheFile.decode(bytes(of: entry), for: key)?.data == Data())
    }

    @Test("a file cut at any octet is no entry")
    func cut() throws {
        let whole = try bytes(of: CacheEntries.received(fields(("ETag", "\"a\""))))
        for length in 0..<whole.count {
            #expect(CacheFile.decode(Array(whole[..<length]), for: key) == nil, "\(length)")
        }
        #expect(CacheFile.decode(whole + [0], for: key) == nil)
    }

    @Test("a file with any octet changed is no entry")
    func damaged() throws {
        let whole = try bytes(of: CacheEntries.received(fields(("ETag", "\"a\""))))
        for place in whole.indices {
            var damaged = whole
            damaged[place] ^= 0x20
            #expect(CacheFile.decode(damaged, for: key) == nil, "\(place)")
        }
    }

    @Test("a file with another key inside is no entry, even if the two keys share a name")
    func collision() throws {
        let whole = try bytes(of: CacheEntries.received(fields()))
        #expect(CacheFile.decode(whole, for: CacheKey(method: "GET", url: "http://h/other")) == nil)
        #expect(CacheFile.decode(whole, for: CacheKey(method: "HEAD", url: "http://h/")) == nil)
    }

    @Test("a response whose notes no file can hold stays off the disk")
    func notes() throws {
        #expect(CacheFile.encode(try CacheEntries.entry(userInfo: ["x": NSObject()]), for: key, stored: time) == nil)
    }
}
