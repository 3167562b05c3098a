/// Limits of a connection's life and of a request's parts, each beside the whole's (``LoadOptions/timeout``). Times in
/// nanoseconds; nil: none.
package struct ConnectionLimits: Hashable, Sendable {
    /// For a connect, with its proxy and TLS.
    package var connect: UInt64?
    /// From a request's last byte to the first of its response.
    package var firstByte: UInt64?
    /// Without a byte moving either way.
    package var idle: UInt64?
    /// How old a connection may become before it is ended, and replaced by another: each between the two, so that not
    /// all end at once.
    package var age: ClosedRange<UInt64>?
    /// How fast requests are sent and answers read on a connection, in bytes a second.
    package var sending: Int?
    package var receiving: Int?
    /// After so many a connection is ended, and replaced by another.
    package var requests: Int?
    /// It is ended by RST, not FIN.
    package var resets = false

    package init() {}

    /// `connect 500 ms, first byte 1 s`.
    package var description: String {
        let times = [("connect", connect), ("first byte", firstByte), ("idle", idle)]
            .compactMap { name, limit in limit.map { "\(name) \(Units.time($0))" } }
        let rates = [("sending at", sending), ("receiving at", receiving)]
            .compactMap { name, rate in rate.map { "\(name) \(Units.bytes(Double($0)))/s" } }
        return (times + rates).joined(separator: ", ")
    }
}
