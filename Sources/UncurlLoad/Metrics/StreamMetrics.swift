/// The additional counts of a run of streams: the events in its answers.
package struct StreamMetrics: Sendable {
    package var events: UInt64 = 0
    /// The part of ``events`` that came while the run drained, which no rate includes.
    package var drainedEvents: UInt64 = 0
    /// Gaps longer than ``StreamOptions/stall``, including those that the run's end cut short.
    package var stalls: UInt64 = 0
    /// Answers that ended, or were in progress at the end, without any event.
    package var silent: UInt64 = 0
    /// The time from a request's first byte sent to the first event.
    package var first = LatencyHistogram()
    /// The time from the instant a request was due to the first event, or to the run's end where none came.
    package var correctedFirst = LatencyHistogram()
    /// The time between an event and the next of its stream: zero where they came together.
    package var gaps = LatencyHistogram()

    package init() {}

    package var eventsInTime: UInt64 { events &- min(drainedEvents, events) }

    package mutating func merge(_ other: StreamMetrics) {
        events &+= other.events
        drainedEvents &+= other.drainedEvents
        stalls &+= other.stalls
        silent &+= other.silent
        first.merge(other.first)
        correctedFirst.merge(other.correctedFirst)
        gaps.merge(other.gaps)
    }
}
