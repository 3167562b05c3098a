import Foundation
import Testing

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

/// Expects that `work` takes processor time in proportion to the size of its input, on a machine of any speed.
///
/// An input of four times `size` then takes some 4 times as long, and some 16 times where the time grows with the
/// square of the size. `size` must be so large that the square, where it should not be, outweighs the rest. The least
/// time of several rounds counts for each input, because whatever else runs can only add to it.
package func expectProportionalTime<Input>(
    from size: Int,
    of input: (_ size: Int) throws -> Input,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Input) throws -> Void
) rethrows {
    let (small, large) = (try input(size), try input(4 * size))
    var (few, many) = (try processorTime { try work(small) }, Double.infinity)
    for _ in 0..<8 where many > 6 * few {
        many = min(many, try processorTime { try work(large) })
        few = min(few, try processorTime { try work(small) })
    }
    #expect(many < 8 * few, "\(many / few) times: \(many) s after \(few) s", sourceLocation: sourceLocation)
}

/// Expects the same of texts with a long run of combining marks in the reverse of their canonical order. The standard
/// library sorts such a run, whenever it compares the text, in time that grows with the square of its length: some
/// 0.06 seconds for the shorter one here.
package func expectProportionalTime<Input>(
    ofMarks input: (_ marks: String) throws -> Input,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Input) throws -> Void
) rethrows {
    let reversed = ["\u{345}", "\u{360}", "\u{35C}", "\u{315}", "\u{301}", "\u{59A}", "\u{323}", "\u{31B}"]
    try expectProportionalTime(
        from: 1_000,
        of: { count in try input(reversed.map { String(repeating: $0, count: count) }.joined()) },
        sourceLocation: sourceLocation,
        work
    )
}
