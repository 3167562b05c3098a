import Foundation

/// Returns the processor time that the body takes on this thread, in seconds: others' work does not count.
func threadTime(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try body()
    return now() - start
}

/// A run of combining marks out of their order, of 128 KiB: `String` compares it with another text in a second.
let marks = String(repeating: "\u{301}\u{323}", count: 32_000)
