/// What happens to a connection after each response or, in a run of handshakes, once the connection is open.
package enum ConnectionReuse: String, Hashable, Sendable {
    case keepAlive = "keep-alive"
    /// Each request has a new connection, which volley ends by FIN: the TIME_WAIT is on this side.
    case fin
    /// Each request has a new connection, which volley ends by RST: there is no TIME_WAIT.
    case rst
}
