extension ServerMachine {
    /// What the machine needs before it can go on.
    enum Need: Equatable {
        /// More octets; all that were given have been used.
        case input
        /// The output sent, then ``ServerMachine/resume(_:)``.
        case room
        /// `resume` after this time.
        case time(Duration)
        /// Every loop of the server to sleep that long, then `resume`.
        case freeze(Duration)
        /// Nothing but the peer's end.
        case nothing
        /// The connection ended this way once the output is sent.
        case end(Ending)
    }

    enum Ending: Equatable {
        case close
        /// FIN, then reading for a while: closing with unread input would send an RST that destroys the response on
        /// its way (RFC 9112 §9.6).
        case linger
        case reset
    }
}
