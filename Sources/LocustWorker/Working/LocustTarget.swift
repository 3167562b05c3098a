package import LoadGenerator

/// What a worker requests in a master's test: its own command line, and what the locustfile's arguments say instead.
package struct LocustTarget: Sendable {
    /// The command line's.
    package let options: Options
    /// The command line has a URL.
    let hasURL: Bool
    let grain: LocustGrain

    package init(_ options: Options, isCoarse: Bool) {
        self.options = options
        hasURL = options.target != .embedded
        grain = isCoarse ? .coarse : .fine
    }

    /// The options of a test that begins with this order.
    package func options(_ order: LocustOrder) throws(UsageError) -> Options {
        var options = options
        if let url = try url(order) {
            let target = try TargetURL(url)
            guard !target.isSecure || options.security.target != nil else {
                throw UsageError(
                    "\(quoted(url)) is https and this worker was started without it: give it an https URL too"
                )
            }
            let known = if case .url(let old) = options.target { old.hostField } else { "localhost" }
            options.request = options.request.retargeted(to: target, unlessOtherThan: known)
            options.target = .url(target)
            if !target.isSecure { options.security = SecurityOptions() }
        }
        guard options.target != .embedded else {
            throw UsageError(
                "nobody says what to test: give the worker a URL, the locustfile a target_url or the master --host"
            )
        }
        options.isSwarm = true
        (options.duration, options.requests, options.warmup) = (nil, nil, 0)
        let users = max(order.users, order.allUsers ?? 0, 1)
        options.connections = max(users, options.threads)
        options.profile = try rate(order).map { LoadProfile(rate: $0, duration: RunPlan.swarmDuration) }
        guard options.profile == nil || options.pipeline == 1 else {
            throw UsageError("--pipeline is for a closed loop, and the master says target_rate: leave one of them out")
        }
        return options
    }

    /// `target_url`; else the command line's; else the locustfile's host.
    private func url(_ order: LocustOrder) throws(UsageError) -> String? {
        if let url = order.option("target_url") { return url }
        if hasURL { return nil }
        guard let host = order.host, !host.isEmpty else { return nil }
        return host.contains("://") ? host : "http://" + host
    }

    /// This worker's part of `target_rate`, by its users; nil where no rate was asked for.
    package func rate(_ order: LocustOrder) throws(UsageError) -> Rate? {
        guard let text = order.option("target_rate"), text != "0" else { return nil }
        let whole = try Rate(text, for: "target_rate")
        guard let all = order.allUsers, all > 0 else {
            throw UsageError(
                "target_rate is shared out by users, and the master does not say how many: start it with -u"
            )
        }
        guard order.users > 0 else { return .zero }
        return Rate(nearest: whole.perSecond * Double(order.users) / Double(all))
    }

    /// What the master's tables call the requests.
    package func name(_ plan: RunPlan) -> String { plan.request.target }
}

extension LocustOrder {
    /// Users of all workers together, once all are there.
    var allUsers: Int? {
        for name in ["num_users", "users"] {
            if let count = options[name]?.count, count > 0 { return min(count, Self.userLimit) }
        }
        return nil
    }
}
