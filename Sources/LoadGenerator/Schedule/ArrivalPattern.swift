/// The distribution of requests in time by their rate.
package enum ArrivalPattern: String, Hashable, Sendable {
    /// At even distances, by the rate.
    case even
    /// At random, like the requests of many independent users.
    case poisson
}
