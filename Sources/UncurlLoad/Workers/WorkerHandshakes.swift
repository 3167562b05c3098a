import UncurlEngine
import UncurlReactor

/// A run of handshakes: each connection is opened, counted once, and closed again.
extension Worker {
    func probe() {
        budget? -= 1
        running += 1
        // The worker exists as long as its loop runs.
        engine.probe(requests.single) { [unowned self] outcome in probed(outcome) }
    }

    private func probed(_ outcome: Result<ConnectionRecord, EngineError>) {
        // A connection that is still there when the run stops counts as unfinished.
        guard hasTime() else { return stop() }
        running -= 1
        switch outcome {
        case .success(let record):
            if let failure = limits.failure(record) {
                metrics.connectionFailed(failure, at: sinceBegin(loop.now), example: "\(plan.url): open too late")
            } else {
                note(record)
            }
        case .failure(let error):
            let now = sinceBegin(loop.now)
            metrics.connectionFailed(Failure(error, nil), at: now, example: "\(plan.url): \(error)")
            pacer.failed(at: now)
        }
        sendNext(connectionGone: true)
    }
}
