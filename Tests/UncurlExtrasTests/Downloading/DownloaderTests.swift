import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import UncurlExtras

/// Loads by hand: what has begun waits until the test says how it ends.
final class HandLoads: Sendable {
    struct Begun: Sendable {
        let request: URLRequest
        let continuation: CheckedContinuation<Downloader<String>.Loaded, any Error>
    }

    let begun = Sightings<Begun>()
    let cancelled = Sightings<String>()

    var load: Downloader<String>.Load {
        { [begun, cancelled] request in
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { begun.add(Begun(request: request, continuation: $0)) }
            } onCancel: {
                cancelled.add(request.url?.lastPathComponent ?? "")
            }
        }
    }

    var names: [String] { begun.all.map { $0.request.url?.lastPathComponent ?? "" } }

    func finish(_ index: Int, _ value: String = "value") {
        begun.all[index].continuation.resume(
            returning: .init(
                value,
                URLResponse(
                    url: URL(fileURLWithPath: "/"),
                    mimeType: nil,
                    expectedContentLength: 0,
                    textEncodingName: nil
                )
            )
        )
    }

    func fail(_ index: Int) { begun.all[index].continuation.resume(throwing: URLError(.timedOut)) }
}

@Suite("Downloader", .timeLimit(.minutes(5)))
struct DownloaderTests {
    private let loads = HandLoads()
    private let results = Sightings<String>()

    private func request(_ name: String) -> URLRequest { URLRequest(url: URL(string: "http://a.test/\(name)")!) }

    private func completion(_ name: String) -> Downloader<String>.Completion {
        { [results] result in
            switch result {
            case .success(let loaded):
                results.add("\(name) \(loaded.value) \(loaded.response == nil ? "cached" : "loaded")")
            case .failure(let error): results.add("\(name) \((error as? URLError)?.code.rawValue ?? 0)")
            }
        }
    }

    @Test("equal requests are loaded once, and each handler gets the value, in the order they came", .rows("K2"))
    func merging() async {
        let downloader = Downloader(load: loads.load)
        for name in ["1", "2", "3"] { downloader.download(request("x"), completion: completion(name)) }
        #expect(await loads.begun.wait { $0.count == 1 })
        #expect(downloader.activeCount == 1)
        loads.finish(0)
        #expect(await results.wait { $0 == ["1 value loaded", "2 value loaded", "3 value loaded"] })
        #expect(downloader.activeCount == 0)
        downloader.download(request("x"), completion: completion("4"))
        #expect(await loads.begun.wait { $0.count == 2 })
        loads.fail(1)
        #expect(await results.wait { $0.last == "4 -1001" })
    }

    @Test(
        "method, fields, freshness and content tell requests apart; names in any case and the program's own key do not",
        .rows("K2")
    )
    func keys() async {
        let downloader = Downloader(maximumActive: 20, load: loads.load)
        var variants = (0..<7).map { _ in request("x") }
        variants[1].httpMethod = "HEAD"
        variants[2].setValue("en", forHTTPHeaderField: "Accept-Language")
        variants[3].cachePolicy = .reloadIgnoringLocalCacheData
        variants[4].httpMethod = "POST"
        variants[5].httpMethod = "POST"
        variants[6].setValue("en", forHTTPHeaderField: "ACCEPT-LANGUAGE")
        for variant in variants { downloader.download(variant, completion: completion("v")) }
        #expect(await loads.begun.wait { $0.count == 6 })
        downloader.download(request("y"), key: "same", completion: completion("v"))
        downloader.download(request("z"), key: "same", completion: completion("v"))
        #expect(await loads.begun.wait { $0.count == 7 })
        #expect(downloader.activeCount == 7)
        for index in 0..<7 { loads.finish(index) }
        #expect(await results.wait { $0.count == 9 })
        #expect(loads.begun.all.count == 7)
        let lenient = Downloader(fields: ["Accept"], load: loads.load)
        lenient.download(variants[0], completion: completion("v"))
        lenient.download(variants[2], completion: completion("v"))
        #expect(await loads.begun.wait { $0.count == 8 })
        #expect(lenient.activeCount == 1)
        loads.finish(7)
        #expect(await results.wait { $0.count == 11 })
        var stored = request("x")
        stored.cachePolicy = .returnCacheDataDontLoad
        downloader.download(stored, completion: completion("stored"))
        downloader.download(request("x"), completion: completion("loaded"))
        #expect(await loads.begun.wait { $0.count == 10 })
        for index in 8..<10 { loads.finish(index) }
        #expect(await results.wait { $0.count == 13 })
    }

    @Test("loads beyond the limit wait, oldest first or newest first", .rows("K2"), arguments: [true, false])
    func bounded(isFIFO: Bool) async {
        let downloader = Downloader(order: isFIFO ? .firstInFirstOut : .lastInFirstOut, load: loads.load)
        #expect(downloader.maximumActive == 4)
        for index in 0..<7 { downloader.download(request("\(index)"), completion: completion("\(index)")) }
        #expect(await loads.begun.wait { $0.count == 4 })
        #expect(downloader.activeCount == 4)
        #expect(downloader.queuedCount == 3)
        for index in 0..<3 {
            loads.finish(index)
            #expect(await loads.begun.wait { $0.count == 5 + index })
        }
        for index in 3..<7 { loads.finish(index) }
        #expect(await results.wait { $0.count == 7 })
        #expect(Set(loads.names.prefix(4)) == ["0", "1", "2", "3"])
        #expect(Array(loads.names.suffix(3)) == (isFIFO ? ["4", "5", "6"] : ["6", "5", "4"]))
        #expect(downloader.activeCount == 0 && downloader.queuedCount == 0)
    }

    @Test(
        "the cache is asked first, unless the request wants a fresh answer; then there is no receipt and no response",
        .rows("K2")
    )
    func cache() async {
        let downloader = Downloader(cache: AutoPurgingCache(capacity: 1_000) { $0.count }, load: loads.load)
        #expect(downloader.download(request("x"), completion: completion("1")) != nil)
        #expect(await loads.begun.wait { $0.count == 1 })
        loads.finish(0, "old")
        #expect(await results.wait { $0 == ["1 old loaded"] })
        #expect(downloader.download(request("x"), completion: completion("2")) == nil)
        #expect(await results.wait { $0.last == "2 old cached" })
        #expect(loads.begun.all.count == 1)
        var fresh = request("x")
        fresh.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(downloader.cachedValue(for: fresh) == nil && downloader.cachedValue(for: request("x")) == "old")
        downloader.download(fresh, completion: completion("3"))
        #expect(await loads.begun.wait { $0.count == 2 })
        loads.finish(1, "new")
        #expect(await results.wait { $0.last == "3 new loaded" })
        #expect(downloader.cachedValue(for: request("x")) == "new")
    }

    @Test("a key prints what it is made of, without secrets")
    func printed() throws {
        let url = try #require(URL(string: "https://user:hidden@h.example/a?key=hidden"))
        var request = URLRequest(url: url)
        request.setValue("hidden", forHTTPHeaderField: "Authorization")
        func text(_ given: String? = nil) -> String { "\(DownloadKey(request, given: given, fields: nil, number: 1))" }
        #expect(text() == "DownloadKey(GET https://h.example/a?…)")
        #expect(text("mine") == "DownloadKey(mine)")
        request.httpMethod = "POST"
        #expect(text() == "DownloadKey(number: 1)")
    }

    @Test("no URL is an error of its own, later and once", .rows("K2"))
    func noURL() async {
        let downloader = Downloader(load: loads.load)
        var request = request("x")
        request.url = nil
        #expect(downloader.download(request, completion: completion("1")) == nil)
        #expect(await results.wait { $0 == ["1 -1000"] })
        #expect(loads.begun.all.isEmpty)
    }

    @Test(
        "a cancelled receipt gets its error; the load ends with the last, and the next request begins anew",
        .rows("K3")
    )
    func cancelling() async {
        let downloader = Downloader(load: loads.load)
        let first = downloader.download(request("x"), completion: completion("1"))
        let second = downloader.download(request("x"), completion: completion("2"))
        #expect(await loads.begun.wait { $0.count == 1 })
        if let first { downloader.cancel(first) }
        #expect(await results.wait { $0 == ["1 -999"] })
        #expect(loads.cancelled.all.isEmpty)
        if let second { downloader.cancel(second) }
        #expect(await results.wait { $0.last == "2 -999" })
        #expect(await loads.cancelled.wait { $0 == ["x"] })
        downloader.download(request("x"), completion: completion("3"))
        #expect(await loads.begun.wait { $0.count == 2 })
        // A late result of the cancelled load reaches no caller.
        loads.finish(0, "late")
        loads.finish(1, "fresh")
        #expect(await results.wait { $0.last == "3 fresh loaded" })
        #expect(results.all.count == 3)
        if let first { downloader.cancel(first) }
        #expect(results.all.count == 3, "a receipt counts once")
    }

    @Test("cancelling what never began leaves the number of active loads as it is", .rows("K3", "D22"))
    func cancellingQueued() async {
        let downloader = Downloader(maximumActive: 2, load: loads.load)
        for name in ["a", "b"] { downloader.download(request(name), completion: completion(name)) }
        #expect(await loads.begun.wait { $0.count == 2 })
        for _ in 0..<5 {
            let receipt = downloader.download(request("c"), completion: completion("c"))
            #expect(downloader.activeCount == 2 && downloader.queuedCount == 1)
            if let receipt { downloader.cancel(receipt) }
            #expect(downloader.activeCount == 2 && downloader.queuedCount == 0)
        }
        downloader.download(request("d"), completion: completion("d"))
        #expect(await results.wait { $0.count == 5 })
        #expect(loads.begun.all.count == 2, "none began beyond the limit")
        loads.finish(0)
        #expect(await loads.begun.wait { $0.count == 3 })
        loads.finish(1)
        loads.finish(2)
        #expect(await results.wait { $0.count == 8 })
    }

    @Test("a load that was cancelled and has not ended still counts: it has a connection", .rows("K3"))
    func cancelledIsActive() async {
        let downloader = Downloader(maximumActive: 1, load: loads.load)
        let receipt = downloader.download(request("x"), completion: completion("1"))
        #expect(await loads.begun.wait { $0.count == 1 })
        if let receipt { downloader.cancel(receipt) }
        downloader.download(request("y"), completion: completion("2"))
        #expect(downloader.activeCount == 1 && downloader.queuedCount == 1)
        loads.fail(0)
        #expect(await loads.begun.wait { $0.count == 2 })
        loads.finish(1)
        #expect(await results.wait { $0.last == "2 value loaded" })
    }

    @Test("a cancelled Swift task returns at once, and the other callers get the value")
    func awaiting() async throws {
        let downloader = Downloader(load: loads.load)
        let kept = Task { try await downloader.value(for: request("x")).value }
        #expect(await loads.begun.wait { $0.count == 1 })
        let given = Task { try await downloader.value(for: request("x")).value }
        given.cancel()
        await #expect(throws: URLError.self) { try await given.value }
        #expect(loads.cancelled.all.isEmpty)
        loads.finish(0)
        #expect(try await kept.value == "value")
    }

    @Test("the value of a request that is never merged is not cached, unless the request has a key")
    func unmergeable() async {
        let cache = Downloader<String>.Cache(capacity: 1_000) { $0.count }
        let downloader = Downloader(cache: cache, load: loads.load)
        var post = request("x")
        post.httpMethod = "POST"
        for (index, key) in [nil, "key"].enumerated() {
            downloader.download(post, key: key, completion: completion("\(index)"))
            #expect(await loads.begun.wait { $0.count == index + 1 })
            loads.finish(index)
            #expect(await results.wait { $0.count == index + 1 })
            #expect(cache.count == index)
        }
        #expect(downloader.cachedValue(for: post, key: "key") == "value")
    }

    @Test(
        "four hundred requests of eight threads, half of them cancelled: each completion once, never more than four active"
    )
    func storm() async {
        let counts = Mutex((active: 0, most: 0))
        let downloader = Downloader<String> { request in
            counts.withLock { counts in
                counts.active += 1
                counts.most = max(counts.most, counts.active)
            }
            await Task.yield()
            counts.withLock { $0.active -= 1 }
            return .init(request.url?.lastPathComponent ?? "", nil)
        }
        let results = results
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in 0..<50 {
                let receipt = downloader.download(request("\(index % 20)")) { _ in results.add("\(thread)-\(index)") }
                if index % 2 == 0, let receipt { downloader.cancel(receipt) }
            }
        }
        #expect(await results.wait { $0.count == 400 })
        #expect(Set(results.all).count == 400)
        #expect(await Sightings<Void>.eventually { downloader.activeCount == 0 })
        #expect(downloader.queuedCount == 0)
        #expect(counts.withLock { $0.most } <= 4)
    }

    @Test("the session's configuration has a cache of 20 and 150 MiB", .rows("K2"))
    func configuration() {
        let cache = URLSessionConfiguration.downloader.urlCache
        #expect(cache?.memoryCapacity == 20 << 20 && cache?.diskCapacity == 150 << 20)
    }
}
