/// The connections that a user of an engine keeps for itself, one for each destination: its exchanges use no others,
/// and no other exchange uses them. For load tests, whose users do not share connections. It belongs to one engine's
/// loop.
package final class ConnectionKeeper {
    /// Those that carry no exchange now. Some may have been closed.
    var resting: [ConnectionID] = []

    /// Makes a keeper without connections.
    package init() {}
}
