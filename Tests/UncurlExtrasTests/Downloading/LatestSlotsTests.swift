import Foundation
import Synchronization
import TestSupport
import Testing

@testable import UncurlExtras

@Suite("Latest wins", .timeLimit(.minutes(5)))
struct LatestSlotsTests {
    private let loads = HandLoads()
    private let shown = Sightings<String>()
    private let slots: LatestSlots<String, String>
    private let downloader: Downloader<String>

    init() {
        downloader = Downloader(cache: AutoPurgingCache(capacity: 1_000) { $0.count }, load: loads.load)
        slots = LatestSlots(downloader)
    }

    private func request(_ name: String) -> URLRequest { URLRequest(url: URL(string: "http://a.test/\(name)")!) }

    private func apply(_ name: String) -> LatestSlots<String, String>.Apply {
        { [shown] content in
            switch content {
            case .placeholder(let value): shown.add("\(name) placeholder \(value ?? "none")")
            case .value(let value, let response): shown.add("\(name) \(value) \(response == nil ? "cached" : "loaded")")
            case .failed: shown.add("\(name) failed")
            }
        }
    }

    @Test("the placeholder at once, then the value", .rows("K6"))
    func usual() async {
        #expect(slots.show(request("x"), in: "a", placeholder: "grey", apply: apply("1")))
        #expect(shown.all == ["1 placeholder grey"] && slots.isLoading("a"))
        #expect(await loads.begun.wait { $0.count == 1 })
        loads.finish(0)
        #expect(await shown.wait { $0.last == "1 value loaded" })
        #expect(!slots.isLoading("a"))
    }

    @Test("a place that loads a request ignores the same request", .rows("K6"))
    func same() async {
        slots.show(request("x"), in: "a", apply: apply("1"))
        #expect(!slots.show(request("x"), in: "a", apply: apply("2")))
        #expect(await loads.begun.wait { $0.count == 1 })
        loads.finish(0)
        #expect(await shown.wait { $0 == ["1 placeholder none", "1 value loaded"] })
    }

    @Test("another request for a place cancels the one before, whose result is never shown", .rows("K6"))
    func latest() async {
        slots.show(request("x"), in: "a", apply: apply("1"))
        #expect(await loads.begun.wait { $0.count == 1 })
        slots.show(request("y"), in: "a", apply: apply("2"))
        #expect(await loads.cancelled.wait { $0 == ["x"] })
        #expect(await loads.begun.wait { $0.count == 2 })
        loads.finish(1, "y")
        #expect(await shown.wait { $0.last == "2 y loaded" })
        loads.finish(0, "late")
        #expect(await Sightings<Void>.eventually { downloader.activeCount == 0 })
        #expect(shown.all == ["1 placeholder none", "2 placeholder none", "2 y loaded"])
    }

    @Test("a cached value is shown at once, without the placeholder", .rows("K6"))
    func cached() async {
        slots.show(request("x"), in: "a", apply: apply("1"))
        #expect(await loads.begun.wait { $0.count == 1 })
        loads.finish(0)
        #expect(await shown.wait { $0.count == 2 })
        slots.show(request("y"), in: "a", apply: apply("2"))
        slots.show(request("x"), in: "a", placeholder: "grey", apply: apply("3"))
        #expect(shown.all.last == "3 value cached" && !slots.isLoading("a"))
        #expect(await loads.begun.wait { $0.count == 2 })
        #expect(await loads.cancelled.wait { $0 == ["y"] })
        loads.finish(1)
        #expect(await Sightings<Void>.eventually { downloader.activeCount == 0 })
        #expect(shown.all.count == 4)
    }

    @Test("each place loads by itself, and one can be cancelled alone", .rows("K6"))
    func places() async {
        slots.show(request("x"), in: "a", apply: apply("a"))
        slots.show(request("x"), in: "b", apply: apply("b"))
        #expect(await loads.begun.wait { $0.count == 1 })
        slots.cancel("a")
        #expect(!slots.isLoading("a") && slots.isLoading("b") && loads.cancelled.all.isEmpty)
        loads.fail(0)
        #expect(await shown.wait { $0 == ["a placeholder none", "b placeholder none", "b failed"] })
        let one = LatestSlots<OnlySlot, String>(downloader)
        #expect(one.show(request("z")) { _ in })
        one.cancel()
        #expect(!one.isLoading(.only))
        #expect(await loads.begun.wait { $0.count == 2 })
        loads.fail(1)
    }

    @Test("a later request that comes while a call cancels the load before it is not covered by the call's placeholder")
    func latePlaceholder() async {
        let later = LateCall()
        let load = loads.load
        let downloader = Downloader(cache: AutoPurgingCache(capacity: 1_000) { $0.count }) { request in
            try await withTaskCancellationHandler {
                try await load(request)
            } onCancel: {
                later.run()
            }
        }
        let slots = LatestSlots<String, String>(downloader)
        slots.show(request("x"), in: "a", apply: apply("1"))
        #expect(await loads.begun.wait { $0.count == 1 })
        loads.finish(0)
        #expect(await shown.wait { $0.count == 2 })
        slots.show(request("y"), in: "a", apply: apply("2"))
        #expect(await loads.begun.wait { $0.count == 2 })
        later.set { [request = request("x"), apply = apply("4")] in slots.show(request, in: "a", apply: apply) }
        #expect(slots.show(request("z"), in: "a", placeholder: "grey", apply: apply("3")))
        #expect(shown.all.last == "4 value cached")
        loads.finish(1)
        #expect(await Sightings<Void>.eventually { downloader.activeCount == 0 })
    }

    @Test("requests that are never merged are never the same", .rows("K6"))
    func posts() async throws {
        var (first, second) = (request("x"), request("x"))
        (first.httpMethod, second.httpMethod) = ("POST", "POST")
        (first.httpBody, second.httpBody) = (Data([1]), Data([2]))
        #expect(slots.show(first, in: "a", apply: apply("1")))
        #expect(slots.show(second, in: "a", apply: apply("2")))
        #expect(await loads.begun.wait { $0.count == 2 })
        // Two tasks load them, and either may be the first to begin.
        let place = try #require(loads.begun.all.firstIndex { $0.request.httpBody == second.httpBody })
        loads.finish(place, "two")
        #expect(await shown.wait { $0.last == "2 two loaded" })
        loads.finish(1 - place)
        #expect(await Sightings<Void>.eventually { downloader.activeCount == 0 })
    }
}

/// A call that runs once, when it is asked for.
private final class LateCall: Sendable {
    private let call = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ call: @escaping @Sendable () -> Void) { self.call.withLock { $0 = call } }
    func run() { call.withLock { $0.take() }?() }
}
