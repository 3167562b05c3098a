import HTTP1
import HTTPEngine
import Reactor

/// A virtual user: one request at a time, on whichever connection the engine has.
final class Lane: ExchangeDelegate {
    private unowned let driver: LaneDriver
    /// Among all of the run, from 0.
    let number: Int
    /// When its request was due by the schedule; without one, when it was started.
    var due = Instant.never
    /// Its next request will need a connection of its own making.
    var needsConnection = true

    init(_ driver: LaneDriver, number: Int) { (self.driver, self.number) = (driver, number) }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        driver.finished(self, outcome, report)
    }
}
