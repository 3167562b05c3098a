package import UncurlLoad

/// The target of a worker in a master's test: that of its own command line, unless the locustfile's arguments replace
/// it.
package struct LocustTarget: Sendable {
    /// The options of the command line.
    package let options: LoadOptions
    /// Whether the command line has a URL.
    let hasURL: Bool
    let grain: LocustGrain

    package init(_ options: LoadOptions, isCoarse: Bool) {
        self.options = options
        hasURL = options.target != .embedded
        grain = isCoarse ? .coarse : .fine
    }

    /// The options of a test that begins with this order.
    package func options(_ order: LocustSpawn) throws(LocustProblem) -> LoadOptions {
        var options = options
        if let url = try url(order) {
            let target: TargetURL
            do throws(LoadTestError) { target = try TargetURL(url) } catch { throw .load(error) }
            guard !target.isSecure || options.security.target != nil else {
                throw .notReadyForTLS(url: url)
            }
            let known = if case .url(let old) = options.target { old.hostField } else { "localhost" }
            options.request = options.request.retargeted(to: target, unlessOtherThan: known)
            options.target = .url(target)
            if !target.isSecure { options.security = SecurityOptions() }
        }
        guard options.target != .embedded else {
            throw .noTarget
        }
        options.isSwarm = true
        (options.duration, options.requests, options.warmup) = (nil, nil, 0)
        let users = max(order.users, order.allUsers ?? 0, 1)
        options.connections = max(users, options.threads)
        options.profile = try rate(order).map { LoadProfile(rate: $0, duration: RunPlan.swarmDuration) }
        guard options.profile == nil || options.pipeline == 1 else {
            throw .pipelinedRate
        }
        return options
    }

    /// The URL: `target_url`, or the command line's, or the locustfile's host.
    private func url(_ order: LocustSpawn) throws(LocustProblem) -> String? {
        if let url = order.option("target_url") { return url }
        if hasURL { return nil }
        guard let host = order.host, !host.isEmpty else { return nil }
        return host.drop { $0 != ":" }.hasPrefix("://") ? host : "http://" + host
    }

    /// This worker's share of `target_rate`, by its users; nil where no rate was asked for.
    package func rate(_ order: LocustSpawn) throws(LocustProblem) -> Rate? {
        guard let text = order.option("target_rate"), text != "0" else { return nil }
        let whole: Rate
        do throws(Rate.Problem) { whole = try Rate(text) } catch { throw .rate(text, error) }
        guard let all = order.allUsers, all > 0 else {
            throw .unknownUsers
        }
        guard order.users > 0 else { return .zero }
        return Rate(nearest: whole.perSecond * Double(order.users) / Double(all))
    }

    /// The name of the requests in the master's tables.
    package func name(_ plan: RunPlan) -> String { plan.request.target }
}

extension LocustSpawn {
    /// The users of all workers together, once all have started.
    var allUsers: Int? {
        for name in ["num_users", "users"] {
            if let count = options[name]?.count, count > 0 { return min(count, Self.userLimit) }
        }
        return nil
    }
}
