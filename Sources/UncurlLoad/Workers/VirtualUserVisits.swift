import UncurlReactor

/// The virtual users that get their next request from a program.
extension VirtualUserDriver {
    /// Asks a user's script what comes next.
    func ask(_ user: VirtualUser, _ response: LoadResponse?) {
        switch user.script?(response) ?? .done {
        case .done:
            // Without this pause, visits without a request would follow each other without end in one turn.
            if response == nil { return sleep(user, 1_000_000) }
            free(user)
        case .request(let request, let pause):
            guard mayStart(user) else { return free(user) }
            do throws(LoadTestError) {
                try take(request, for: user)
            } catch {
                return sleep(user, ConnectPacer.holdOff)
            }
            start(user, after: UInt64(clamping: pause.wholeNanoseconds))
        }
    }

    /// Makes the user's visits, and carries out what they ask for.
    func follow(
        _ user: VirtualUser,
        _ visit: @escaping @Sendable (LoadUser) async throws -> Void
    ) -> UserVisits {
        let visits = UserVisits(on: worker.loop, number: user.number, visit)
        user.visits = visits
        visits.follow(
            UserVisits.Orders(
                send: { [unowned self] request throws(LoadTestError) in
                    guard mayStart(user) else { return false }
                    try take(request, for: user)
                    promise(false, to: user)
                    start(user, after: 0)
                    return true
                },
                rest: { [unowned self] span in sleep(user, span) },
                end: { [unowned self] isEmpty in
                    promise(false, to: user)
                    // As for scripts: visits without a request need a pause.
                    if isEmpty, worker.budget != 0 { sleep(user, 1_000_000) } else { free(user) }
                    finishIfDone()
                    worker.finishIfDone()
                }
            )
        )
        return visits
    }

    private func take(_ request: LoadRequest, for user: VirtualUser) throws(LoadTestError) {
        do throws(LoadTestError) {
            let planned = try worker.requests.factory.request(request.draft)
            (user.request, user.name) = (planned, planned.name)
            spend()
        } catch {
            let failure = Failure(.write, .other, detail: "unusable request")
            let time = worker.sinceBegin(worker.loop.now)
            worker.metrics.connectionFailed(failure, at: time, example: error.description)
            throw error
        }
    }
}
