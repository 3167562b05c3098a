import Reactor

/// A run whose size is set from outside while it continues.
extension Worker {
    /// Keeps this many connections busy from now on. Those beyond it end with their answers and stay idle for a while.
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

    /// Sends no more requests, and ends with the last answer, so that it has counted every request that the server has.
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
