import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlExtras

@Suite("Purging cache")
struct AutoPurgingCacheTests {
    private func cache(_ capacity: Int = 100, _ preferred: Int = 60) -> AutoPurgingCache<String, Int> {
        AutoPurgingCache(capacity: capacity, preferredAfterPurge: preferred) { $0 }
    }

    @Test("beyond its capacity the least recently used go, until the preferred size is left", .rows("K1"))
    func purge() {
        let cache = cache()
        for name in ["a", "b", "c", "d", "e"] { #expect(cache.add(20, for: name)) }
        #expect(cache.usage == 100 && cache.count == 5, "full is not too full")
        #expect(cache.value(for: "a") == 20)
        #expect(cache.add(20, for: "f"))
        #expect(cache.usage == 60)
        for (name, stays) in [("a", true), ("b", false), ("c", false), ("d", false), ("e", true), ("f", true)] {
            #expect((cache.value(for: name) != nil) == stays, "\(name)")
        }
    }

    @Test("replacing adjusts the usage, and counts as use", .rows("K1"))
    func replacing() {
        let cache = cache()
        cache.add(50, for: "a")
        cache.add(30, for: "b")
        cache.add(10, for: "a")
        #expect(cache.usage == 40 && cache.count == 2)
        cache.add(70, for: "c")
        #expect(cache.value(for: "b") == nil && cache.value(for: "c") == 70)
    }

    @Test("removing says whether there was something", .rows("K1"))
    func removing() {
        let cache = cache()
        cache.add(10, for: "a")
        #expect(cache.remove("a") && !cache.remove("a") && cache.usage == 0)
        #expect(!cache.removeAll())
        cache.add(10, for: "a")
        cache.add(10, for: "b")
        #expect(cache.removeAll() && cache.usage == 0 && cache.value(for: "a") == nil)
    }

    @Test("a veto keeps a value out, and what was kept under its key is not its value any more", .rows("K1"))
    func veto() {
        let cache = AutoPurgingCache<String, Int>(
            capacity: 100,
            admits: { key, value in key != "secret" && value != 13 },
            cost: { $0 }
        )
        #expect(!cache.add(1, for: "secret") && cache.value(for: "secret") == nil)
        #expect(cache.add(12, for: "a") && !cache.add(13, for: "a") && cache.value(for: "a") == nil && cache.usage == 0)
    }

    @Test("a value that alone is too large drives nothing else out")
    func tooLarge() {
        let cache = cache()
        cache.add(40, for: "a")
        #expect(!cache.add(101, for: "big") && cache.value(for: "a") == 40 && cache.usage == 40)
        #expect(cache.add(100, for: "fits") && cache.value(for: "fits") == 100 && cache.value(for: "a") == nil)
    }

    @Test("costs below nothing count as nothing, and sums do not overflow")
    func strangeCosts() {
        let cache = AutoPurgingCache<String, Int>(capacity: .max, preferredAfterPurge: .max) { $0 }
        cache.add(-5, for: "a")
        #expect(cache.usage == 0)
        let most = cache.capacity
        #expect(cache.add(most, for: "b") && cache.add(most, for: "c") && !cache.add(.max, for: "d"))
        #expect(cache.usage == most)
        cache.add(1, for: "e")
        #expect(cache.value(for: "c") == nil && cache.usage == 1)
        let none = AutoPurgingCache<String, Int>(capacity: -1, preferredAfterPurge: 9) { $0 }
        #expect(none.capacity == 0 && !none.add(1, for: "a") && none.add(0, for: "b"))
    }

    @Test("a program that hears that memory runs short purges to any amount", .rows("K1"))
    func pressure() {
        let cache = cache()
        for name in ["a", "b", "c"] { cache.add(20, for: name) }
        cache.purge(to: 30)
        #expect(cache.usage == 20 && cache.value(for: "c") == 20)
    }

    /// The head of a GIF of that size, and more octets.
    private func image(_ width: UInt16, _ height: UInt16, more: Int = 0) throws -> ImageContent {
        let size = [width, height].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let data = Data(Array("GIF89a".utf8) + size + [0, 0, 0] + [UInt8](repeating: 0, count: more))
        return ImageContent(header: try ImageHeader(reading: data), data: data)
    }

    @Test("an image costs four octets a pixel, whatever it claims to be, and its content", .rows("K1"))
    func images() throws {
        let cache = ImageCache.images(capacity: 1_000, preferredAfterPurge: 600)
        #expect(AutoPurgingCache<String, Int>.defaultCapacity == 100 << 20)
        #expect(AutoPurgingCache<String, Int>.defaultPreferredAfterPurge == 60 << 20)
        let key = try ImageCacheKey(#require(URL(string: "http://a.test/i.gif")))
        #expect(cache.add(try image(10, 5), for: key))
        #expect(cache.usage == 200 + 13 + 512)
        let round = try ImageCacheKey(#require(URL(string: "http://a.test/i.gif")), identifier: "round")
        #expect(cache.value(for: round) == nil)
        #expect(!cache.add(try image(.max, .max), for: key))
        #expect(cache.usage == 0)
    }

    @Test("images of a pixel with a megabyte behind it fill the cache as much as other megabytes", .rows("K1"))
    func smallImages() throws {
        let cache = ImageCache.images(capacity: 10 << 20, preferredAfterPurge: 10 << 20)
        let keys = try (0..<30).map { try ImageCacheKey(#require(URL(string: "http://a.test/\($0).gif"))) }
        for key in keys { #expect(cache.add(try image(1, 1, more: 1 << 20), for: key)) }
        #expect(keys.count { cache.value(for: $0) != nil } == 9 && cache.usage <= 10 << 20)
    }

    @Test("threads may use it at once, reads too, and the usage is what the values cost", .rows("K1"))
    func threads() {
        let cache = cache(1_000, 600)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<2_000 {
                cache.add(round % 50, for: "\((thread * 7 + round) % 60)")
                _ = cache.value(for: "\(round % 60)")
                if round % 17 == 0 { cache.remove("\(round % 60)") }
            }
        }
        let sum = (0..<60).reduce(0) { $0 + (cache.value(for: "\($1)") ?? 0) }
        #expect(cache.usage == sum && sum <= 1_000)
    }
}
