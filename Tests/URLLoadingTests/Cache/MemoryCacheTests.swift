import Testing
import UncurlSemantics

@testable import URLLoading

@Suite("The cache in memory")
struct MemoryCacheTests {
    private func key(_ number: Int) -> CacheKey { CacheKey(method: "GET", url: "http://h/\(number)") }
    private let start = Date(timeIntervalSince1970: 1000)

    @Test("the entry that was used last is evicted last")
    func leastRecentlyUsed() throws {
        let entry = try CacheEntries.entry()
        var cache = MemoryCache(capacity: 3 * entry.cost)
        for number in 1...3 { cache.store(entry, for: key(number), now: start) }
        #expect(cache.value(for: key(1)) != nil)
        cache.store(entry, for: key(4), now: start)
        #expect(cache.value(for: key(2)) == nil)
        for number in [1, 3, 4] { #expect(cache.value(for: key(number)) != nil, "\(number)") }
        #expect(cache.usage == 3 * entry.cost)
    }

    @Test("an entry that does not fit is not stored, and the older one is removed even so")
    func tooLarge() throws {
        var cache = MemoryCache(capacity: 2000)
        cache.store(try CacheEntries.entry(), for: key(1), now: start)
        cache.store(try CacheEntries.entry("http://h/", 5000), for: key(1), now: start)
        #expect(cache.isEmpty && cache.usage == 0)
    }

    @Test("a smaller capacity evicts at once, and a capacity of zero keeps nothing")
    func shrinking() throws {
        let entry = try CacheEntries.entry()
        var cache = MemoryCache(capacity: 10 * entry.cost)
        for number in 1...10 { cache.store(entry, for: key(number), now: start) }
        cache.capacity = 2 * entry.cost
        #expect(cache.usage == 2 * entry.cost)
        #expect(cache.value(for: key(10)) != nil)
        #expect(cache.value(for: key(8)) == nil)
        cache.capacity = 0
        #expect(cache.isEmpty)
        cache.capacity = -1
        cache.store(entry, for: key(1), now: start)
        #expect(cache.isEmpty)
    }

    @Test("removing what was stored since a date keeps what was stored before it")
    func since() throws {
        let entry = try CacheEntries.entry()
        var cache = MemoryCache(capacity: 100_000)
        for number in 1...5 { cache.store(entry, for: key(number), now: start + TimeInterval(number)) }
        cache.removeAll(storedSince: start + 3)
        #expect(cache.value(for: key(2)) != nil)
        for number in 3...5 { #expect(cache.value(for: key(number)) == nil) }
        #expect(cache.usage == 2 * entry.cost)
    }

    @Test("what was read from disk is kept if nothing was stored or removed meanwhile, and replaces nothing")
    func readMeanwhile() throws {
        let (old, new) = (try CacheEntries.entry(), try CacheEntries.entry())
        let changes: [(inout MemoryCache) -> Void] = [
            { $0.remove(self.key(1)) }, { $0.removeAll() }, { $0.removeAll(storedSince: self.start) },
            { $0.store(new, for: self.key(2), now: self.start) },
        ]
        for change in changes {
            var cache = MemoryCache(capacity: 100_000)
            let before = cache.changes
            change(&cache)
            cache.keep(old, for: key(1), asOf: before, now: start)
            #expect(cache.value(for: key(1)) == nil)
            cache.keep(old, for: key(1), asOf: cache.changes, now: start)
            #expect(cache.value(for: key(1)) === old)
        }
        var cache = MemoryCache(capacity: 100_000)
        cache.store(new, for: key(1), now: start)
        cache.keep(old, for: key(1), asOf: cache.changes, now: start)
        #expect(cache.value(for: key(1)) === new)
    }

    @Test("after any sequence of storing, using and removing, the cache holds what a plain list would hold")
    func model() throws {
        let entry = try CacheEntries.entry()
        var random = SystemRandomNumberGenerator()
        var cache = MemoryCache(capacity: 5 * entry.cost)
        var list: [Int] = []
        for _ in 0..<2000 {
            let number = Int.random(in: 0..<10, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                cache.store(entry, for: key(number), now: start)
                list.removeAll { $0 == number }
                list.append(number)
                if list.count > 5 { list.removeFirst() }
            case 1:
                #expect((cache.value(for: key(number)) != nil) == list.contains(number))
                if list.contains(number) {
                    list.removeAll { $0 == number }
                    list.append(number)
                }
            default:
                #expect(cache.remove(key(number)) == list.contains(number))
                list.removeAll { $0 == number }
            }
            #expect(cache.usage == list.count * entry.cost)
        }
    }
}
