import Dispatch
import TestSupport
import Testing

@testable import Uncurl

@Suite("Sequences of reachability", .timeLimit(.minutes(5)))
struct ReachabilityStatusesTests {
    @Test("a reader that is cancelled before its observation begins leaves nothing behind")
    func cancelledFirst() async {
        let queue = DispatchQueue(label: "reader")
        let manager = ReachabilityManager(queue: queue)
        queue.suspend()
        let reader = Task { for await _ in manager.statuses {} }
        reader.cancel()
        await reader.value
        queue.resume()
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(await Sightings<Void>.eventually { manager.observations == 0 })
    }
}
