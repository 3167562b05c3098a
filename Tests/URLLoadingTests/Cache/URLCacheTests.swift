import Dispatch
import Synchronization
import Testing
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

@Suite("URLCache")
struct URLCacheTests {
    private let folder = TemporaryFolder()

    private func cache(memory: Int = 1 << 20, disk: Int = 1 << 20) -> URLCache {
        URLCache(memoryCapacity: memory, diskCapacity: disk, diskPath: folder.path)
    }

    @Test("a response is found by its whole URL with its query, whatever the cache policy")
    func wholeURL() throws {
        let cache = cache()
        cache.storeCachedResponse(
            try CacheEntries.entry("http://h/q?x=1"),
            for: try CacheEntries.request("http://h/q?x=1")
        )
        #expect(cache.cachedResponse(for: try CacheEntries.request("http://h/q?x=1"))?.data.count == 10)
        #expect(cache.cachedResponse(for: try CacheEntries.request("http://h/q?x=1#part")) != nil)
        for other in ["http://h/q?x=2", "http://h/q", "https://h/q?x=1", "http://h:81/q?x=1"] {
            #expect(cache.cachedResponse(for: try CacheEntries.request(other)) == nil, "\(other)")
        }
        #expect(cache.cachedResponse(for: try CacheEntries.request("http://h/q?x=1", method: "POST")) == nil)
    }

    @Test("an entry on disk outlives the cache that stored it")
    func outliving() throws {
        let request = try CacheEntries.request("http://h/")
        cache().storeCachedResponse(try CacheEntries.entry(userInfo: ["a": "b"]), for: request)
        let next = cache()
        let found = try #require(next.cachedResponse(for: request))
        #expect(found == (try CacheEntries.entry()) && found.userInfo?["a"] as? String == "b")
        #expect(next.currentMemoryUsage > 0 && next.currentDiskUsage > 0)
    }

    @Test("a response that is removed while it is read from disk does not stay in memory")
    func removedWhileRead() throws {
        let (cache, request) = (cache(), try CacheEntries.request("http://h/"))
        let (entry, key) = (try CacheEntries.entry(), try #require(CacheKey(request)))
        for _ in 0..<200 {
            cache.storeCachedResponse(entry, for: request)
            cache.memory.withLock { $0.removeAll() }
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 { _ = cache.load(key) } else { cache.remove(key) }
            }
            #expect(cache.memory.withLock { $0.isEmpty })
        }
    }

    @Test("each storage policy is followed")
    func policies() throws {
        let request = try CacheEntries.request("http://h/")
        let cache = cache()
        cache.storeCachedResponse(try CacheEntries.entry(policy: .notAllowed), for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.storeCachedResponse(try CacheEntries.entry(policy: .allowed), for: request)
        #expect(folder.names.count == 1)
        cache.storeCachedResponse(try CacheEntries.entry(policy: .allowedInMemoryOnly), for: request)
        #expect(folder.names.isEmpty && cache.cachedResponse(for: request)?.storagePolicy == .allowedInMemoryOnly)
    }

    @Test("memory and disk can be switched off", arguments: [(0, 1 << 20), (1 << 20, 0), (0, 0), (-1, -1)])
    func capacities(memory: Int, disk: Int) throws {
        let cache = cache(memory: memory, disk: disk)
        let request = try CacheEntries.request("http://h/")
        cache.storeCachedResponse(try CacheEntries.entry(), for: request)
        #expect((cache.cachedResponse(for: request) != nil) == (memory > 0 || disk > 0))
        #expect((cache.currentMemoryUsage > 0) == (memory > 0) && (cache.currentDiskUsage > 0) == (disk > 0))
        #expect(cache.memoryCapacity == memory && cache.diskCapacity == disk)
    }

    @Test("removing one entry, those since a date, and all of them reaches memory and disk")
    func removing() throws {
        let cache = cache()
        let requests = try (1...3).map { try CacheEntries.request("http://h/\($0)") }
        for request in requests { cache.storeCachedResponse(try CacheEntries.entry(), for: request) }
        cache.removeCachedResponse(for: requests[0])
        #expect(cache.cachedResponse(for: requests[0]) == nil && cache.cachedResponse(for: requests[1]) != nil)
        cache.removeCachedResponses(since: .distantFuture)
        #expect(cache.cachedResponse(for: requests[1]) != nil)
        cache.removeCachedResponses(since: .distantPast)
        #expect(cache.cachedResponse(for: requests[1]) == nil && folder.names.isEmpty)
        cache.storeCachedResponse(try CacheEntries.entry(), for: requests[0])
        cache.removeAllCachedResponses()
        #expect(
            cache.cachedResponse(for: requests[0]) == nil && cache.currentDiskUsage == 0
                && cache.currentMemoryUsage == 0
        )
    }

    @Test("a response that a program stores by hand is judged by the rules, by the request that it is stored for")
    func byHand() throws {
        var request = try CacheEntries.request("http://h/")
        request.setValue("text/a", forHTTPHeaderField: "Accept")
        let cache = cache()
        cache.storeCachedResponse(try CacheEntries.entry(), for: request)
        let record = try #require(cache.cachedResponse(for: request)?.record)
        #expect(record.varying == [VaryingField(name: "accept", value: "text/a")])
        #expect(abs(Double(record.received) - Date().timeIntervalSince1970) < 60)
    }

    @Test("a session looks up and stores without waiting for the disk")
    func loading() throws {
        let first = cache()
        let request = try CacheEntries.request("http://h/")
        guard case .nothing = first.find(request) else { return #expect(Bool(false)) }
        first.keep(try CacheEntries.received(fields(("ETag", "\"a\""))), for: try #require(CacheKey(request)))
        guard case .answer = first.find(request) else { return #expect(Bool(false)) }
        first.disk?.finishWriting()
        let second = cache()
        guard case .unread(let key) = second.find(request) else { return #expect(Bool(false)) }
        #expect(second.load(key) != nil)
        guard case .answer = second.find(request) else { return #expect(Bool(false)) }
        second.remove(key)
        guard case .nothing = second.find(request) else { return #expect(Bool(false)) }
    }

    @Test("a session stores nothing larger than a twentieth of the cache")
    func contentLimit() {
        #expect(cache(memory: 1000, disk: 20_000).contentLimit == 1000)
        #expect(cache(memory: 40_000, disk: 0).contentLimit == 2000)
        #expect(cache(memory: 0, disk: 0).contentLimit == 0)
        #expect(cache(memory: 0, disk: .max).contentLimit == 64 << 20)
    }

    @Test("a request without a URL finds and stores nothing")
    func noURL() throws {
        var request = try CacheEntries.request("http://h/")
        request.url = nil
        let cache = cache()
        cache.storeCachedResponse(try CacheEntries.entry(), for: request)
        #expect(cache.cachedResponse(for: request) == nil && cache.currentMemoryUsage == 0)
        cache.removeCachedResponse(for: request)
    }

    @Test("an ephemeral session's cache has no disk")
    func memoryOnly() throws {
        let cache = URLCache(memoryCapacity: 4 << 20)
        let request = try CacheEntries.request("http://h/")
        cache.storeCachedResponse(try CacheEntries.entry(), for: request)
        cache.diskCapacity = 100
        #expect(cache.cachedResponse(for: request) != nil && cache.currentDiskUsage == 0 && cache.diskCapacity == 0)
    }

    @Test("many threads that share a cache find what they stored or nothing, and never another's entry")
    func threads() async throws {
        let cache = cache(memory: 20_000, disk: 40_000)
        let requests = try (0..<8).map { try CacheEntries.request("http://h/\($0)") }
        let entries = try (0..<8).map { try CacheEntries.entry("http://h/\($0)", 1000 + $0) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        cache.storeCachedResponse(entries[number], for: requests[number])
                        let found = cache.cachedResponse(for: requests[number])
                        #expect(found == nil || found == entries[number])
                        if number == 3 { cache.removeCachedResponse(for: requests[number]) }
                    }
                }
            }
        }
        #expect(cache.currentDiskUsage <= 40_000)
    }

    /// Answers and notes what it is asked, as users' subclasses do.
    private final class Subclass: URLCache, @unchecked Sendable {
        let stored = DispatchSemaphore(value: 0)

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            guard request.value(forHTTPHeaderField: "X-Ask") != nil else { return nil }
            return super.cachedResponse(for: request)
        }

        override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
            super.storeCachedResponse(cachedResponse, for: request)
            stored.signal()
        }
    }

    @Test("a session calls a subclass by the methods that it overrides, with the request as it is")
    func subclass() throws {
        let cache = Subclass(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: folder.path)
        var request = try CacheEntries.request("http://h/")
        let key = try #require(CacheKey(request))
        cache.keep(try CacheEntries.received(fields(("ETag", "\"a\""))), for: key)
        #expect(cache.stored.wait(timeout: .now() + 60) == .success)
        guard case .unread(key) = cache.find(request) else { return #expect(Bool(false)) }
        #expect(cache.load(key, request) == nil)
        request.setValue("1", forHTTPHeaderField: "X-Ask")
        #expect(cache.load(key, request) != nil)
    }

    @Test("the methods that take a task use its current request")
    func tasks() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try CacheEntries.request("http://h/"))
        let cache = cache()
        cache.storeCachedResponse(try CacheEntries.entry(), for: task)
        let found = await withCheckedContinuation { next in
            cache.getCachedResponse(for: task) { next.resume(returning: $0) }
        }
        #expect(found == (try CacheEntries.entry()))
        cache.removeCachedResponse(for: task)
        #expect(cache.cachedResponse(for: try CacheEntries.request("http://h/")) == nil)
    }
}
