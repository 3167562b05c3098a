import UncurlReactor

/// A run whose number of connections or rate is set from outside while the run continues.
extension Worker {
    /// Keeps this many connections busy from now on. The others become idle after their answers, and are closed later.
    func setConnections(_ count: Int) {
        loop.stamp()
        driver?.grow(to: count)
        wanted = count
        pacer.want(max(0, count - (driver?.active ?? running)))
        connect()
    }

    /// Sets the schedule's rate from now on, of all threads together, and makes room for this many connections.
    func setRate(_ rate: Rate, connections: Int) {
        loop.stamp()
        driver?.grow(to: connections)
        driver?.change(to: rate)
    }

    /// Sends no more requests, and ends the run with the last answer, so that every request that the server got counts.
    func retire() {
        loop.stamp()
        budget = 0
        driver?.retire()
        finishIfDone()
    }
}

extension VirtualUserDriver {
    /// Counts the requests that are due and not sent as unsent, and begins a schedule of another rate.
    func change(to rate: Rate) {
        dropBacklog()
        begin(rate)
    }

    func retire() {
        dropBacklog()
        stopSchedule()
    }
}

extension RemoteWorker {
    package func setConnections(_ count: Int) { post { $0.setConnections(count) } }
    package func setRate(_ rate: Rate, connections: Int) { post { $0.setRate(rate, connections: connections) } }
    package func retire() { post { $0.retire() } }
}
