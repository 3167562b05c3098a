internal import Reactor

/// What an outcome needs after its exchange has been given back, so that the delegate may start the next one.
struct Farewell {
    let id: ExchangeID
    fileprivate(set) var delegate: (any ExchangeDelegate)?
    fileprivate(set) var report = ExchangeReport(start: .never)
    /// The request had not left completely.
    let unsent: Bool

    func deliver(_ outcome: Outcome) { delegate?.exchange(id, didFinish: outcome, report: report) }
}

extension Exchange {
    /// Moves what the outcome needs out of this exchange, which is about to be given back.
    func takeFarewell() -> Farewell {
        let unsent = if case .done = sending { false } else { true }
        var farewell = Farewell(id: id, unsent: unsent)
        swap(&farewell.delegate, &delegate)
        swap(&farewell.report, &report)
        return farewell
    }
}
