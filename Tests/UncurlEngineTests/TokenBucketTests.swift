import Testing
import UncurlReactor

@testable import UncurlEngine

@Suite("Token buckets")
struct TokenBucketTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("a bucket begins full, empties by what is taken, fills at its rate, and no further than its burst")
    func fills() {
        var bucket = TokenBucket(TransferRate(bytesPerSecond: 1000, burst: 100), at: at(0))
        #expect(bucket.available(at: at(0)) == 100)
        bucket.take(100)
        #expect(bucket.available(at: at(0)) == 0 && bucket.isEmpty)
        #expect(bucket.available(at: at(30)) == 30)
        #expect(bucket.available(at: at(60)) == 60)
        #expect(bucket.available(at: at(5000)) == 100)
    }

    @Test("bytes beyond the rate delay the next ones, and a clock that goes back adds none")
    func owes() {
        var bucket = TokenBucket(TransferRate(bytesPerSecond: 1000, burst: 100), at: at(1000))
        bucket.take(600)
        #expect(bucket.available(at: at(1400)) == 0)
        #expect(bucket.available(at: at(900)) == 0)
        #expect(bucket.available(at: at(1550)) == 50)
    }

    @Test("a bucket says when a twentieth of a second's bytes may move, at least one byte")
    func next() {
        var bucket = TokenBucket(TransferRate(bytesPerSecond: 1000, burst: 100), at: at(0))
        bucket.take(100)
        #expect(bucket.next == at(50))
        var slow = TokenBucket(TransferRate(bytesPerSecond: 1), at: at(0))
        slow.take(1)
        #expect(slow.next == at(1000))
        var narrow = TokenBucket(TransferRate(bytesPerSecond: 1000, burst: 1), at: at(0))
        narrow.take(1)
        #expect(narrow.next == at(1))
        #expect(bucket.available(at: bucket.next) == 50)
    }

    @Test("over any time no more passes than the burst and the rate's share")
    func longRun() {
        var bucket = TokenBucket(TransferRate(bytesPerSecond: 12_345, burst: 777), at: at(0))
        var (sent, time) = (0, Int64(0))
        for step in 1...10_000 {
            time += Int64(step % 17)
            let count = bucket.available(at: at(time))
            bucket.take(count)
            sent += count
            #expect(Double(sent) <= 777 + 12.345 * Double(time) + 1e-6)
        }
        #expect(Double(sent) > 12.345 * Double(time) * 0.99)
    }

    @Test("rates of nothing and of too much are made into some", arguments: [Int.min, -1, 0, 1, Int.max])
    func extremes(rate: Int) {
        var bucket = TokenBucket(TransferRate(bytesPerSecond: rate, burst: rate), at: at(0))
        let count = bucket.available(at: at(1))
        #expect(count >= 1)
        bucket.take(count)
        #expect(bucket.next > at(0))
    }
}
