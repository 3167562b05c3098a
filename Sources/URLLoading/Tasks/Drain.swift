internal import HTTPEngine
internal import Reactor

/// An answer that is not the last one, on its way to its end: it is read if it is short, so that its connection serves
/// the next request.
struct Drain {
    let exchange: ExchangeID
    /// Limits the time for all of the rest: a server need not send it at all.
    let timer: TimerID
    /// What is done after it.
    let next: () -> Void
    /// In bytes: more than a redirect's page needs. Up to about this much, reading on costs less than a new connection.
    private var left = 64 << 10

    static let limit = Duration.seconds(1)

    init(_ exchange: ExchangeID, timer: TimerID, next: @escaping () -> Void) {
        self.exchange = exchange
        self.timer = timer
        self.next = next
    }

    /// - Returns: false if there is more than is worth reading.
    mutating func read(_ count: Int) -> Bool {
        left -= count
        return left >= 0
    }
}
