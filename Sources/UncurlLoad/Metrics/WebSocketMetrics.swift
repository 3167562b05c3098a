/// The additional counts of a run of WebSockets, whose requests are messages.
package struct WebSocketMetrics: Sendable {
    /// WebSockets that were opened in the measured part.
    package var opened: UInt64 = 0
    /// WebSockets that were open when the warm-up ended.
    package var kept: UInt64 = 0
    /// WebSockets that the server ended, or that were lost, while no answer was awaited.
    package var dropped: UInt64 = 0
    /// Messages that came while no answer was awaited.
    package var pushed: UInt64 = 0
    /// From the start of a connection to the end of its opening handshake; of the whole run, as most are opened in the
    /// warm-up.
    package var open = LatencyHistogram()

    package init() {}

    /// WebSockets that could carry messages of the measured part.
    package var used: UInt64 { opened &+ kept }

    package mutating func merge(_ other: WebSocketMetrics) {
        opened &+= other.opened
        kept &+= other.kept
        dropped &+= other.dropped
        pushed &+= other.pushed
        open.merge(other.open)
    }
}
