extension ServerMachine {
    /// What the machine needs before it can continue.
    enum Need: Equatable {
        /// More octets; it has used all that it got.
        case input
        /// The output must be sent, then ``ServerMachine/resume(_:)`` called.
        case room
        /// `resume` must be called after this time.
        case time(Duration)
        /// Every loop of the server must sleep for this time, then `resume` be called.
        case freeze(Duration)
        /// Nothing but the end of the peer.
        case nothing
        /// The connection must end in this way once the output is sent.
        case end(Ending)
    }

    enum Ending: Equatable {
        case close
        /// FIN, then reading for a while: closing with unread input would send an RST that destroys the response on its
        /// way (RFC 9112 §9.6).
        case linger
        case reset
    }
}
