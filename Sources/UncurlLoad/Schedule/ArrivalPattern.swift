/// How the instants of requests are distributed in time at a given rate.
package enum ArrivalPattern: String, Hashable, Sendable {
    /// At equal distances.
    case even
    /// At random, like the requests of many independent users.
    case poisson
}
