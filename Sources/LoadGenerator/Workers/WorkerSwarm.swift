import Reactor

/// A run whose size others decide while it goes on.
extension Worker {
    /// So many connections are kept busy from now on. Those beyond it end with their answers and stay idle for a while.
    func setConnections(_ count: Int) {
        loop.stamp()
        wanted = count
        pacer.want(max(0, count - (driver?.active ?? running)))
        connect()
    }

    /// The schedule's rate from now on, of all threads together.
    func setRate(_ rate: Rate) {
        loop.stamp()
        driver?.change(to: rate)
    }

    /// Sends no more, and ends with the last answer: then all that a server counted was counted here.
    func retire() {
        loop.stamp()
        budget = 0
        driver?.retire()
        finishIfDone()
    }
}

extension VirtualUserDriver {
    /// What is due already is sent first, as far as connections are free.
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
    package func setRate(_ rate: Rate) { post { $0.setRate(rate) } }
    package func retire() { post { $0.retire() } }
}
