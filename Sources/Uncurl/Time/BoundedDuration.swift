extension Duration {
    /// The duration as a wait: not below zero, and a century at most. The runtime's clocks trap on instants beyond 63
    /// bits of seconds.
    package var bounded: Duration { min(max(.zero, self), .seconds(3_155_760_000)) }
}
