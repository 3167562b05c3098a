import Testing

@testable import URLLoading

@Suite("Queues of octets")
struct OctetQueueTests {
    @Test("octets are taken in their order, however many at a time", arguments: [1, 2, 3, 7, 100])
    func order(size: Int) {
        var (queue, taken) = (OctetQueue([0, 1, 2]), [UInt8]())
        for round in 0..<50 {
            let octets: [UInt8] = (0..<5).map { UInt8(3 + round * 5 + $0) }
            queue.append(octets.span)
            taken += queue.take(min(size, queue.count))
        }
        #expect(queue.rest.count == queue.count && queue.isEmpty == (queue.count == 0))
        while !queue.isEmpty {
            let count = min(size, queue.count)
            var buffer = [UInt8](repeating: 0, count: count)
            unsafe buffer.withUnsafeMutableBufferPointer { bytes in
                if let start = bytes.baseAddress { unsafe queue.take(count, into: start) }
            }
            taken += buffer
        }
        #expect(taken == Array(0..<253) && queue.rest.isEmpty)
    }
}
