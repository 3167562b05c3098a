import UncurlEngine
import UncurlReactor

/// The turns of virtual users: what is sent, in which order, and with which pauses.
extension VirtualUserDriver {
    /// Closed loop: starts a user, since a connection may be opened now.
    func startResting() {
        if sockets != nil { return openSocket() }
        guard let user = resting.take() else { return }
        startNext(user)
    }

    /// Starts the next request of a user that is free or has slept.
    func startNext(_ user: VirtualUser) {
        if user.request != nil { return start(user) }
        guard worker.budget != 0 else {
            resting.append(user)
            return worker.finishIfDone()
        }
        // The user itself is already counted as active.
        guard active <= worker.wanted else { return dismiss(user) }
        if user.needsConnection, user.due != .never {
            // It is not the user's first connection: the pacer decides when to open it.
            user.due = .never
            resting.append(user)
            worker.pacer.add()
            return worker.connect()
        }
        user.due = worker.loop.now
        begin(user)
    }

    /// Lets a user rest, since fewer are wanted. Its next connection is its first again.
    private func dismiss(_ user: VirtualUser) {
        if let keeper = user.keeper { worker.engine.closeConnections(of: keeper) }
        (user.needsConnection, user.due) = (true, .never)
        resting.append(user)
    }

    /// Begins the first request of a user's turn.
    ///
    /// - Parameter number: The request's number in the schedule. Nil without one.
    func begin(_ user: VirtualUser, number: UInt64? = nil) {
        user.sequence = isNumbered ? self.number(scheduled: number) : 0
        user.isFirstOfVisit = true
        user.hops = 0
        if sockets != nil {
            spend()
            return say(user)
        }
        if user.script != nil { return ask(user, nil) }
        if let visits = user.visits {
            promise(true, to: user)
            return visits.begin()
        }
        if let scenarios {
            (user.visit, user.variables) = scenarios.begin(user.sequence, plan.shard, &random)
            return goOn(user)
        }
        guard let list = worker.requests.list else { return }
        let planned = list.requests[list.index(user.sequence, plan.shard, &random)]
        (user.request, user.name) = (planned, planned.name)
        spend()
        start(user)
    }

    /// Returns a request's number: that of its instant for a recorded one, otherwise the next one of all threads.
    private func number(scheduled number: UInt64?) -> UInt64 {
        if plan.profile?.isRecorded == true, let number { return number }
        return plan.shard.number(worker.sequence.take())
    }

    /// Returns whether a request may start. While the run drains, only requests may that were due before its end.
    func mayStart(_ user: VirtualUser) -> Bool {
        worker.budget != 0 || plan.profile != nil && user.isFirstOfVisit
    }

    /// Counts a request of a run by count. By a schedule, ``ArrivalSchedule`` counts. A WebSocket may also fail to open
    /// after the last message was sent.
    func spend() {
        guard plan.profile == nil, let budget = worker.budget, budget > 0 else { return }
        worker.budget = budget - 1
    }

    /// Sends the user's request.
    func start(_ user: VirtualUser) {
        settle(user)
        guard let planned = user.request else { return }
        user.findings = ResponseFindings()
        user.needsConnection = false
        worker.running += 1
        worker.engine.start(ready(planned, user), delegate: user, keeper: user.keeper)
    }

    /// Starts the next request of the visit's scenario, or ends the visit.
    func goOn(_ user: VirtualUser) {
        let next = user.visit?.next(&random)
        guard let number = next?.step, mayStart(user), let planned = worker.requests.list?.requests[number] else {
            user.visit = nil
            guard let pause = next?.pause, pause > 0, worker.budget != 0 else { return free(user) }
            return sleep(user, pause)
        }
        (user.request, user.name, user.step) = (planned, planned.name, scenarios?.steps[number])
        spend()
        start(user, after: next?.pause ?? 0)
    }

    func start(_ user: VirtualUser, after pause: UInt64) {
        guard pause > 0 else { return start(user) }
        promise(true, to: user)
        sleep(user, pause)
    }

    /// Ends a user's turn.
    func free(_ user: VirtualUser) {
        user.request = nil
        if worker.isDraining {
            resting.append(user)
            sendDue()
            if plan.profile == nil, worker.running == 0 { worker.stop() }
        } else if plan.profile != nil {
            resting.append(user)
            guard worker.budget != 0 else { return worker.finishIfDone() }
            // Requests that become due from here on wait for the next look at the schedule.
            sendDue()
            if mayConnect != .never { setAlarm() }
        } else if let think = plan.think {
            sleep(user, think.length(&random))
            worker.finishIfDone()
        } else {
            startNext(user)
        }
    }
}
