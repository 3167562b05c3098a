internal import UncurlEngine
internal import UncurlReactor

/// The rest of an answer that is not delivered. It is read if it is short, so that its connection can carry the next
/// request.
struct Drain {
    let exchange: ExchangeID
    /// Limits the time for all of the rest: a server need not send it at all.
    let timer: TimerID
    /// What runs when the answer has ended.
    let next: () -> Void
    /// How many bytes may still be read.
    private var left: Int

    static let limit = Duration.seconds(1)

    /// - Parameter count: how many bytes of the content have already come.
    init(_ exchange: ExchangeID, having count: Int, timer: TimerID, next: @escaping () -> Void) {
        self.exchange = exchange
        self.timer = timer
        self.next = next
        left = Course.most - count
    }

    /// - Returns: false if there is more than is worth reading.
    mutating func read(_ count: Int) -> Bool {
        left -= count
        return left >= 0
    }
}
