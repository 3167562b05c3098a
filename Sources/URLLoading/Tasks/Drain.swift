internal import HTTPEngine
internal import Reactor

/// An answer that is not the last one, on its way to its end: it is read if it is short, so that its connection serves
/// the next request.
struct Drain {
    let exchange: ExchangeID
    /// Of the whole: a server need not send the rest at all.
    let timer: TimerID
    /// What follows.
    let next: () -> Void
    /// In bytes: more than a redirect's page needs. Reading on costs less than a new connection up to about here.
    private var left = 64 << 10

    static let limit = Duration.seconds(1)

    init(_ exchange: ExchangeID, timer: TimerID, next: @escaping () -> Void) {
        self.exchange = exchange
        self.timer = timer
        self.next = next
    }

    /// False: there is more than is worth reading.
    mutating func read(_ count: Int) -> Bool {
        left -= count
        return left >= 0
    }
}
