/// Limits on a connection's life and on the parts of a request, in addition to the limit on the whole
/// (``LoadOptions/timeout``). Times are in nanoseconds; nil means no limit.
package struct ConnectionLimits: Hashable, Sendable {
    /// The limit of a connect, with its proxy and TLS.
    package var connect: UInt64?
    /// The limit from a request's last byte to the first of its response.
    package var responseStart: UInt64?
    /// The limit of a time without a byte in either direction.
    package var idle: UInt64?
    /// The age at which a connection is ended and replaced. Each connection has its own age in this range, so that not
    /// all end at once.
    package var age: ClosedRange<UInt64>?
    /// The speed at which requests are sent and answers read on a connection, in bytes a second.
    package var sending: Int?
    package var receiving: Int?
    /// The number of requests after which a connection is ended and replaced.
    package var requests: Int?
    /// Whether a connection is ended by RST, not FIN.
    package var resets = false

    package init() {}

    /// The limits as text: `connect 500 ms, age 20 s to 40 s`.
    package var description: String {
        let times = [("connect", connect), ("first byte", responseStart), ("idle", idle)]
            .compactMap { name, limit in limit.map { "\(name) \(Units.time($0))" } }
        let ages = [age].compactMap(\.self).map { ages in
            let (low, high) = (Units.time(ages.lowerBound), Units.time(ages.upperBound))
            return "age \(low == high ? low : "\(low) to \(high)")"
        }
        let rates = [("sending at", sending), ("receiving at", receiving)]
            .compactMap { name, rate in rate.map { "\(name) \(Units.bytes(Double($0)))/s" } }
        return (times + ages + rates).joined(separator: ", ")
    }
}
