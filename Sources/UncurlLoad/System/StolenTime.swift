internal import CUncurlLinux
package import UncurlReactor

/// The processor time that the host of this virtual machine gave to others while the machine had work for it: `steal`
/// in `/proc/stat` (proc_stat(5)), all processors together.
///
/// The kernel counts it in ticks of 10 ms. Between two readings it is interpolated.
package struct StolenTime: Sendable {
    /// The oldest first. The time is in nanoseconds since the machine's start.
    private var readings: [(instant: Instant, stolen: UInt64)] = []

    package init() {}

    /// Reads the time now. Does nothing where the kernel does not report it.
    package mutating func read() {
        guard let bytes = try? Files.start(of: "/proc/stat", count: 512),
            let stolen = Self.nanoseconds(inStat: String(decoding: bytes, as: UTF8.self))
        else { return }
        note(stolen, at: .current())
    }

    package mutating func note(_ stolen: UInt64, at instant: Instant) { readings.append((instant, stolen)) }

    /// Returns the nanoseconds that were stolen between two instants, the earlier one first; nil without a reading.
    package func between(_ start: Instant, _ end: Instant) -> UInt64? {
        guard let before = stolen(until: start), let after = stolen(until: end) else { return nil }
        return after - min(before, after)
    }

    /// Forgets the readings that only instants before this one need.
    package mutating func forget(before instant: Instant) {
        guard let next = readings.firstIndex(where: { $0.instant > instant }), next > 1 else { return }
        readings.removeFirst(next - 1)
    }

    private func stolen(until instant: Instant) -> UInt64? {
        guard let first = readings.first, let last = readings.last else { return nil }
        guard let next = readings.firstIndex(where: { $0.instant > instant }) else { return last.stolen }
        guard next > 0 else { return first.stolen }
        let (early, late) = (readings[next - 1], readings[next])
        let share =
            Double(instant.nanoseconds(since: early.instant)) / Double(late.instant.nanoseconds(since: early.instant))
        return early.stolen + UInt64(Double(late.stolen - min(early.stolen, late.stolen)) * share)
    }

    /// Returns the eighth number of the line `cpu` in nanoseconds; nil where the file has no such line.
    static func nanoseconds(inStat text: String) -> UInt64? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let counts = line.split(separator: " ").dropFirst().map { UInt64($0) }
        guard counts.count > 7, let ticks = counts[7] else { return nil }
        return ticks.multipliedReportingOverflow(by: 10_000_000).partialValue
    }
}
