/// How a connection ends after each response, or when it is open and nothing is requested.
package enum ConnectionReuse: String, Hashable, Sendable {
    case keepAlive = "keep-alive"
    /// A new connection each request, which volley ends by FIN: the TIME_WAIT is on this side.
    case fin
    /// The same, ended by RST: no TIME_WAIT at all.
    case rst
}
