import Foundation

/// Returns the processor time that this thread spends on `work`, in seconds: the work of others does not count.
package func processorTime(of work: () throws -> Void) rethrows -> Double {
    func spent() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let begun = spent()
    try work()
    return spent() - begun
}
