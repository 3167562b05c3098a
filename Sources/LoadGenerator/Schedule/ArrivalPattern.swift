/// How requests come due by their rate.
package enum ArrivalPattern: String, Hashable, Sendable {
    /// Each a whole number of requests after the last, by the rate.
    case even
    /// By chance, as those of many users who know nothing of each other.
    case poisson
}
