/// What an outcome needs after its exchange has been given back, so that the delegate may start the next one.
struct Farewell {
    let id: ExchangeID
    let delegate: (any ExchangeDelegate)?
    let report: ExchangeReport
    /// Whether the request was not sent completely.
    let unsent: Bool

    func deliver(_ outcome: Outcome) { delegate?.exchange(id, didFinish: outcome, report: report) }
}
