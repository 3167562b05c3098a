/// The pauses before new tries after failures of the network.
enum RetryPause {
    /// Returns the pause after this many others: a quarter of a second, then twice as long each time, up to ten
    /// seconds. The kernel does not report when a server can be reached again, and a try costs one look-up and one
    /// packet.
    static func after(_ pauses: Int) -> Duration { min(.milliseconds(250 << min(pauses, 8)), .seconds(10)) }
}
