/// How many connections a closed loop keeps busy over time: successive stages, each with a constant number or with one
/// that changes evenly.
package struct CrowdProfile: Hashable, Sendable {
    package struct Stage: Hashable, Sendable {
        /// The length in nanoseconds.
        package let duration: UInt64
        package let from: UInt64
        package let to: UInt64

        package init(duration: UInt64, from: UInt64, to: UInt64) {
            (self.duration, self.from, self.to) = (duration, from, to)
        }
    }

    private let stages: [Stage]

    package init(_ stages: [Stage]) { self.stages = stages }

    package var duration: UInt64 { stages.reduce(0) { $0 &+ $1.duration } }
    /// The highest number at any time.
    package var peak: UInt64 { stages.map { max($0.from, $0.to) }.max() ?? 0 }
    /// The number for a warm-up: the first number that is not zero.
    package var first: UInt64 { stages.lazy.flatMap { [$0.from, $0.to] }.first { $0 > 0 } ?? 0 }

    /// Returns the number at `time`, in nanoseconds after the start. After the end, it is that of the end.
    package func count(at time: UInt64) -> UInt64 {
        var start: UInt64 = 0
        for stage in stages where stage.duration > 0 {
            if time - start < stage.duration {
                let rise = Double(stage.to) - Double(stage.from)
                return UInt64(Double(stage.from) + rise * Double(time - start) / Double(stage.duration))
            }
            start += stage.duration
        }
        return stages.last?.to ?? 0
    }

    /// The profile as text: `100 connections for 30 s, from 100 to 500 connections within 1 min`.
    package var description: String {
        stages.map { stage in
            let span = Units.time(stage.duration)
            return stage.from == stage.to
                ? "\(grouped(stage.to)) connections for \(span)"
                : "from \(grouped(stage.from)) to \(grouped(stage.to)) connections within \(span)"
        }.joined(separator: ", ")
    }
}
