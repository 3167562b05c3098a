internal import Foundation
internal import UncurlEngine
internal import UncurlReactor

/// Collects the facts of a task's metrics, which are made at the end, if they are asked for by then: a delegate that is
/// set late gets those of the whole task. Nearly every task has one transaction, whose facts cost no allocation.
struct Record {
    private enum Facts {
        case exchange(URLRequest, ExchangeReport, URLResponse?)
        /// An answer from the cache, its length, and when it was served.
        case stored(URLRequest, URLResponse, Int, Instant)
    }

    private let started: Instant
    private var earlier: [Facts] = []
    private var last: Facts?

    init(_ now: Instant) { started = now }

    mutating func note(_ request: URLRequest, _ report: ExchangeReport, _ response: URLResponse?) {
        note(.exchange(request, report, response))
    }

    /// Notes an answer from the cache.
    mutating func note(_ request: URLRequest, stored response: URLResponse, _ length: Int) {
        note(.stored(request, response, length, .current()))
    }

    private mutating func note(_ facts: Facts) {
        if let last { earlier.append(last) }
        last = facts
    }

    /// Makes the metrics. All their dates come from one reading of the wall clock, so they agree with each other.
    func metrics(redirects: Int) -> URLSessionTaskMetrics {
        let now = Instant.current()
        let date = now.dates()
        let transactions = (earlier + (last.map { [$0] } ?? [])).map { facts in
            switch facts {
            case .exchange(let request, let report, let response):
                URLSessionTaskTransactionMetrics(request, report, response, date)
            case .stored(let request, let response, let length, let instant):
                URLSessionTaskTransactionMetrics(request, stored: response, length, at: date(instant))
            }
        }
        let interval = DateInterval(start: date(started), end: date(now))
        return URLSessionTaskMetrics(transactions, interval, redirects: redirects)
    }
}

extension Instant {
    /// Returns what converts the loop's instants to dates by one reading of the wall clock, now. So a task's dates
    /// agree with each other, even if the wall clock is set meanwhile.
    func dates() -> (Instant) -> Date {
        let wall = Date()
        return { wall.addingTimeInterval(Double($0.nanoseconds(since: self)) / 1e9) }
    }
}
