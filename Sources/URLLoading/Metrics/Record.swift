internal import Foundation
internal import HTTPEngine
internal import Reactor

/// Collects a task's metrics, if they are asked for.
struct Record {
    private let clock: WallClock
    private let started: Date
    private var transactions: [URLSessionTaskTransactionMetrics] = []

    init(_ now: Instant) {
        clock = WallClock(now)
        started = clock.date(now)
    }

    mutating func note(_ request: URLRequest, _ report: ExchangeReport, _ response: URLResponse?) {
        transactions.append(URLSessionTaskTransactionMetrics(request, TransactionFacts(report, response, clock)))
    }

    /// Notes an answer from the cache.
    mutating func note(_ request: URLRequest, stored response: URLResponse, _ length: Int) {
        let facts = TransactionFacts(stored: response, length, at: clock.date(.current()))
        transactions.append(URLSessionTaskTransactionMetrics(request, facts))
    }

    func metrics(redirects: Int) -> URLSessionTaskMetrics {
        let interval = DateInterval(start: started, end: clock.date(.current()))
        return URLSessionTaskMetrics(transactions, interval, redirects: redirects)
    }
}
