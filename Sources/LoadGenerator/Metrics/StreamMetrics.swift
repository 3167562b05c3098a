/// What a run of streams counts besides: the events in its answers.
package struct StreamMetrics: Sendable {
    package var events: UInt64 = 0
    /// Gaps longer than ``StreamOptions/stall``, those that the run's end cut short too.
    package var stalls: UInt64 = 0
    /// Answers that ended, or were under way at the end, without any event.
    package var silent: UInt64 = 0
    /// From a request's first byte sent to the first event.
    package var first = LatencyHistogram()
    /// By a schedule: from the instant a request was due to the first event, or to the run's end where none came.
    package var correctedFirst = LatencyHistogram()
    /// Between an event and the next of its stream. Events that came together have no gap.
    package var gaps = LatencyHistogram()

    package init() {}

    package mutating func merge(_ other: StreamMetrics) {
        events &+= other.events
        stalls &+= other.stalls
        silent &+= other.silent
        first.merge(other.first)
        correctedFirst.merge(other.correctedFirst)
        gaps.merge(other.gaps)
    }
}
