import TestSupport
import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

@Suite("The cache on disk")
struct DiskCacheTests {
    private let folder = TemporaryFolder()

    private func cache(_ capacity: Int = 1 << 20) -> DiskCache { DiskCache(directory: folder.path, capacity: capacity) }
    private func key(_ number: Int) -> CacheKey { CacheKey(method: "GET", url: "http://h/\(number)") }

    private func entry(_ number: Int, _ size: Int = 100) throws -> CachedURLResponse {
        try CacheEntries.received(fields(("ETag", "\"\(number)\"")), data: Data(repeating: 7, count: size))
    }

    private func holds(_ cache: DiskCache, _ key: CacheKey) -> String {
        switch cache.holds(key) {
        case .nothing: "no"
        case .answer: "waiting"
        case .unread: "maybe"
        }
    }

    @Test("an empty cache finds nothing without a directory, and makes none")
    func empty() {
        let cache = cache()
        #expect(holds(cache, key(1)) == "no")
        #expect(cache.read(key(1)) == nil && cache.usage == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("what is stored is found, also by another cache on the same directory")
    func sharing() throws {
        let first = cache()
        let second = cache()
        #expect(holds(second, key(1)) == "no")
        first.store(try entry(1), for: key(1), now: Date())
        #expect(holds(first, key(1)) == "maybe" && holds(first, key(2)) == "no")
        #expect(second.read(key(1))?.data.count == 100)
        #expect(holds(second, key(2)) == "no")
        second.store(try entry(2), for: key(2), now: Date())
        #expect(first.read(key(2)) != nil && first.usage == second.usage)
        second.remove(key(1))
        #expect(first.read(key(1)) == nil)
        #expect(holds(first, key(1)) == "no")
    }

    @Test("a look that need not be exact sees what this cache did, and what the directory held at first")
    func patience() throws {
        cache().store(try entry(1), for: key(1), now: Date())
        let later = cache()
        for _ in 0..<3 {
            guard case .unread = later.holds(key(1), isExact: false) else { return #expect(Bool(false)) }
        }
        #expect(later.read(key(1)) != nil)
        later.store(try entry(2), for: key(2), now: Date())
        guard case .unread = later.holds(key(2), isExact: false) else { return #expect(Bool(false)) }
        guard case .nothing = later.holds(key(3), isExact: false) else { return #expect(Bool(false)) }
    }

    @Test("files are readable by their owner alone, and the directory holds only entries")
    func files() throws {
        cache().store(try entry(1), for: key(1), now: Date())
        let names = folder.names
        #expect(names.count == 1 && names.allSatisfy(DiskIndex.isEntry))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + names[0])
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("a file that was cut short by a crash is no entry, and is removed", arguments: [0, 1, 39, 60, 150])
    func truncated(length: Int) throws {
        let cache = cache()
        cache.store(try entry(1), for: key(1), now: Date())
        let name = try #require(folder.names.first)
        folder.write(Array(folder.bytes(of: name).prefix(length)), to: name)
        #expect(cache.read(key(1)) == nil)
        #expect(folder.names.isEmpty && cache.usage == 0)
    }

    @Test("a file of zeros, as a power failure leaves it, is no entry, and is removed")
    func zeros() throws {
        let cache = cache()
        cache.store(try entry(1), for: key(1), now: Date())
        let name = try #require(folder.names.first)
        folder.write([UInt8](repeating: 0, count: folder.bytes(of: name).count), to: name)
        #expect(cache.read(key(1)) == nil && folder.names.isEmpty)
    }

    @Test("entries that cannot be read for want of a descriptor are found again once there is one")
    func withoutDescriptors() async throws {
        for number in 1...2 { cache().store(try entry(number), for: key(number), now: Date()) }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let (one, two) = (CacheKey(method: "GET", url: "http://h/1"), CacheKey(method: "GET", url: "http://h/2"))
            // The one has read the directory, the other has not.
            let caches = (0..<2).map { _ in DiskCache(directory: path, capacity: 1 << 20) }
            guard caches[0].read(one) != nil, let all = Descriptors.taken() else { _exit(2) }
            for cache in caches where cache.read(one) != nil || cache.read(two) != nil { _exit(3) }
            for descriptor in all { close(descriptor) }
            for cache in caches where cache.read(one) == nil || cache.read(two) == nil { _exit(4) }
            _exit(EXIT_SUCCESS)
        }
    }

    @Test("what is to be removed for want of a descriptor is not found again, and goes once there is one")
    func removedWithoutDescriptors() async throws {
        for number in 1...2 { cache().store(try entry(number), for: key(number), now: Date()) }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let requests = (1...2).map { URLRequest(url: URL(string: "http://h/\($0)")!) }
            let files = { ((try? StoreFile.names(in: path)) ?? []).count }
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, diskPath: path)
            guard files() == 2, let all = Descriptors.taken() else { _exit(2) }
            cache.removeAllCachedResponses()
            for descriptor in all { close(descriptor) }
            for request in requests where cache.cachedResponse(for: request) != nil { _exit(3) }
            guard files() == 0 else { _exit(4) }
            let response = URLResponse(
                url: requests[0].url!,
                mimeType: nil,
                expectedContentLength: 1,
                textEncodingName: nil
            )
            cache.storeCachedResponse(CachedURLResponse(response: response, data: Data([1])), for: requests[0])
            guard cache.cachedResponse(for: requests[0]) != nil else { _exit(5) }
            _exit(EXIT_SUCCESS)
        }
    }

    @Test("entries whose dates cannot be read for want of a descriptor are removed by their dates once there is one")
    func sinceWithoutDescriptors() async throws {
        for number in 1...2 {
            cache().store(try entry(number), for: key(number), now: Date(timeIntervalSince1970: Double(number)))
        }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let keys = (1...2).map { CacheKey(method: "GET", url: "http://h/\($0)") }
            let cache = DiskCache(directory: path, capacity: 1 << 20)
            guard cache.read(keys[0]) != nil, let all = Descriptors.taken() else { _exit(2) }
            cache.removeAll(storedSince: .distantFuture)
            cache.removeAll(storedSince: Date(timeIntervalSince1970: 2))
            guard cache.read(keys[0]) == nil, cache.read(keys[1]) == nil else { _exit(3) }
            for descriptor in all { close(descriptor) }
            guard cache.read(keys[0]) != nil, cache.read(keys[1]) == nil else { _exit(4) }
            guard ((try? StoreFile.names(in: path)) ?? []).count == 1 else { _exit(5) }
            _exit(EXIT_SUCCESS)
        }
    }

    @Test("a writer that dies half-way does no harm: the old entry stays")
    func halfWritten() throws {
        cache().store(try entry(1), for: key(1), now: Date())
        let name = try #require(folder.names.first)
        folder.write(Array(folder.bytes(of: name).prefix(20)), to: name + ".1-2.tmp")
        #expect(cache().read(key(1)) != nil)
    }

    @Test("the capacity is kept, and what was used last stays")
    func eviction() throws {
        let cache = cache(10_000)
        for number in 1...8 { cache.store(try entry(number, 900), for: key(number), now: Date()) }
        #expect(cache.read(key(1)) != nil)
        for number in 9...12 { cache.store(try entry(number, 900), for: key(number), now: Date()) }
        #expect(cache.usage <= 10_000)
        #expect(cache.read(key(1)) != nil && cache.read(key(12)) != nil && cache.read(key(2)) == nil)
        cache.capacity = 2500
        #expect(cache.usage <= 2500)
        cache.capacity = 0
        #expect(cache.usage == 0 && folder.names.isEmpty)
    }

    @Test("an entry larger than the whole cache is not stored, and the older one is removed")
    func tooLarge() throws {
        let cache = cache(2000)
        cache.store(try entry(1), for: key(1), now: Date())
        cache.store(try entry(1, 5000), for: key(1), now: Date())
        #expect(folder.names.isEmpty)
    }

    @Test("removing what was stored since a date keeps what was stored before it")
    func since() throws {
        let cache = cache()
        for number in 1...4 {
            cache.store(try entry(number), for: key(number), now: Date(timeIntervalSince1970: Double(number)))
        }
        cache.removeAll(storedSince: Date(timeIntervalSince1970: 3))
        #expect(cache.read(key(2)) != nil && cache.read(key(3)) == nil && folder.names.count == 2)
    }

    @Test("clearing the cache leaves files that are not the cache's")
    func clearing() throws {
        let cache = cache()
        cache.store(try entry(1), for: key(1), now: Date())
        folder.write([1], to: "users-own")
        cache.removeAll()
        #expect(folder.names == ["users-own"])
    }

    @Test("an entry that is written later is found at once and is on disk in the end; of several, the last is written")
    func later() throws {
        let cache = cache()
        for number in 1...50 { cache.storeLater(try entry(number), for: key(1), now: Date()) }
        #expect(cache.read(key(1))?.answer?.exchange.fields["ETag"] == "\"50\"")
        cache.finishWriting()
        #expect(self.cache().read(key(1))?.answer?.exchange.fields["ETag"] == "\"50\"")
        #expect(folder.names.count == 1)
    }

    /// Keeps the disk busy: its writing goes on when it is let.
    private final class SlowEntry: CachedURLResponse, @unchecked Sendable {
        let (begun, gate) = (Word<Bool>(), Gate())

        override var storagePolicy: URLCache.StoragePolicy {
            begun.give(true)
            gate.wait()
            return super.storagePolicy
        }
    }

    @Test("no more than 16 MiB wait for a slow disk; an entry beyond that is not stored, and its older form is removed")
    func waitingLimit() async throws {
        let cache = cache(64 << 20)
        for number in [1, 20] { cache.store(try entry(number), for: key(number), now: Date()) }
        let slow = SlowEntry(response: try entry(0).response, data: Data())
        let slowKey = key(0)
        let isWritten = Word<Bool>()
        DispatchQueue.global().async {
            cache.store(slow, for: slowKey, now: Date())
            isWritten.give(true)
        }
        defer { slow.gate.open() }
        #expect(await slow.begun.wait("the disk is busy") == true)
        let entries = try (0...20).map { try entry($0, 1 << 20) }
        for number in 1...20 { cache.storeLater(entries[number], for: key(number), now: Date()) }
        let waiting = (1...20).filter { holds(cache, key($0)) == "waiting" }
        #expect(waiting == Array(1...15))
        #expect(waiting.reduce(0) { $0 + entries[$1].cost } <= 16 << 20)
        #expect(cache.read(key(20)) == nil && cache.read(key(1))?.data.count == 1 << 20)
        slow.gate.open()
        #expect(await isWritten.wait("the disk is free") == true)
        cache.finishWriting()
        #expect((1...20).filter { self.cache(64 << 20).read(key($0)) != nil } == waiting)
    }

    @Test("an entry that is removed before it was written does not come back")
    func removedBeforeWritten() throws {
        let cache = cache()
        for number in 1...100 {
            cache.storeLater(try entry(number), for: key(number), now: Date())
            // The file may appear at any moment after this.
            cache.remove(key(number))
            #expect((0..<20).allSatisfy { _ in cache.read(key(number)) == nil })
        }
        cache.finishWriting()
        // The last write may be under way still: one more goes behind it.
        cache.storeLater(try entry(0), for: key(0), now: Date())
        cache.finishWriting()
        #expect(folder.names.count == 1)
    }

    @Test("a directory that was removed is made again; a cache whose directory cannot be made stores nothing")
    func lostDirectory() throws {
        let cache = cache()
        cache.store(try entry(1), for: key(1), now: Date())
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(cache.read(key(1)) == nil)
        cache.store(try entry(2), for: key(2), now: Date())
        #expect(cache.read(key(2)) != nil)
        let impossible = DiskCache(directory: "/proc/no/such", capacity: 1000)
        impossible.store(try entry(1), for: key(1), now: Date())
        #expect(impossible.read(key(1)) == nil && impossible.usage == 0)
    }
}
