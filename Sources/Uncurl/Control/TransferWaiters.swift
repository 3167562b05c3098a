/// What waits until a transfer is resumed or cancelled.
struct TransferWaiters {
    var begins: [CheckedContinuation<Void, Never>] = []
    /// Gets the control of a transfer that has not begun.
    var start: AsyncStream<TransferControl>.Continuation?

    func end(_ control: TransferControl) {
        for begin in begins { begin.resume() }
        start?.yield(control)
        start?.finish()
    }
}
