/// What an outcome needs after its exchange has been given back, so that the delegate may start the next one.
struct Farewell {
    let id: ExchangeID
    let delegate: (any ExchangeDelegate)?
    let report: ExchangeReport
    /// The request had not left completely.
    let unsent: Bool

    func deliver(_ outcome: Outcome) { delegate?.exchange(id, didFinish: outcome, report: report) }
}
