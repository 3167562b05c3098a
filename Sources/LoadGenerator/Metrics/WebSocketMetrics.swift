/// What a run of WebSockets counts besides: its messages are the requests.
package struct WebSocketMetrics: Sendable {
    /// In the measured part.
    package var opened: UInt64 = 0
    /// Ended by the server, or lost, while no answer was awaited.
    package var dropped: UInt64 = 0
    /// Messages that came while no answer was awaited.
    package var pushed: UInt64 = 0
    /// From the start of a connection to the end of its opening handshake; of the whole run, as most are opened in the
    /// warm-up.
    package var open = LatencyHistogram()

    package init() {}

    package mutating func merge(_ other: WebSocketMetrics) {
        opened &+= other.opened
        dropped &+= other.dropped
        pushed &+= other.pushed
        open.merge(other.open)
    }
}
