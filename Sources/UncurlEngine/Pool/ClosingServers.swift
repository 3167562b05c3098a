internal import UncurlReactor

/// Servers that lately closed a connection right after an answer without announcing it (no `Connection: close`,
/// RFC 9112 §9.6).
///
/// The server's FIN may be on its way while the next request is sent. A request that may be sent again is not harmed by
/// that. Another one fails if the server's kernel answers it with an RST, which does not say whether the server read
/// it. So such a request is not sent on a connection of these servers that has just answered: it gets a connection of
/// its own.
struct ClosingServers {
    /// How soon after its answer a close counts, and how long after its answer a connection is not trusted.
    private let haste: Duration
    /// How long a server is remembered.
    private static let memory = Duration.seconds(60)
    /// The most servers that are remembered. With more, the table starts again.
    private static let limit = 1_024

    private var until: [Destination: Instant] = [:]

    init(haste: Duration = .seconds(1)) { self.haste = haste }

    var isEmpty: Bool { until.isEmpty }

    /// Notes that the server has closed a connection to `destination` whose last response ended at `answered`.
    mutating func note(_ destination: Destination, answered: Instant, now: Instant) {
        guard now < answered.advanced(by: haste) else { return }
        if until.count >= Self.limit { until = [:] }
        until[destination] = now.advanced(by: Self.memory)
    }

    /// Whether a connection to `destination` whose last response ended at `answered` may be about to close.
    func mayClose(_ destination: Destination, answered: Instant, now: Instant) -> Bool {
        guard !until.isEmpty, now < answered.advanced(by: haste), let end = until[destination] else {
            return false
        }
        return now < end
    }
}
