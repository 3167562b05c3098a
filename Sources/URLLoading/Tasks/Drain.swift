internal import HTTPEngine
internal import Reactor

/// The rest of an answer that is not delivered. It is read if it is short, so that its connection can carry the next
/// request.
struct Drain {
    let exchange: ExchangeID
    /// Limits the time for all of the rest: a server need not send it at all.
    let timer: TimerID
    /// What runs when the answer has ended.
    let next: () -> Void
    /// How many bytes may still be read. The limit is more than the page of a redirect has, and reading more would cost
    /// more than a new connection.
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
