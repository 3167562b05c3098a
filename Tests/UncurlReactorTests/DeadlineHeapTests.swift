import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Deadline heap", .ownThread)
struct DeadlineHeapTests {
    @Test("sleepers wake in the order of their time, and not before")
    func heap() {
        var heap = DeadlineHeap<Int>()
        for number in (0..<200).map({ ($0 * 77) % 200 }) {
            heap.push(number, at: Instant(nanoseconds: Int64(number / 2)))
        }
        #expect(heap.pop(by: Instant(nanoseconds: -1)) == nil)
        var woken: [Int] = []
        while let next = heap.pop(by: Instant(nanoseconds: 49)) { woken.append(next / 2) }
        #expect(woken == (0..<100).map { $0 / 2 })
        #expect(heap.earliest == Instant(nanoseconds: 50))
    }
}
