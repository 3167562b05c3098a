import UncurlEngine
import UncurlReactor

/// The values of a virtual user's request, and the schedule of a thread's requests.
extension VirtualUserDriver {
    /// Returns the request to send: the finished one, or one with this user's values and cookies.
    func ready(_ planned: PlannedRequest, _ user: VirtualUser) -> EngineRequest {
        var cookies: [UInt8]?
        if plan.users.keepsCookies {
            cookies = user.cookies?.octets(for: planned.cookieScope, now: VirtualUserDriver.wallClock())
        }
        if cookies == nil, let fixed = planned.fixed { return fixed }
        take(user)
        // Values can always be sent, and cookies are checked when they are set. If a request cannot be written even so,
        // its finished form without cookies is sent, or else the run's own request.
        return (try? planned.filled(&context, cookies: cookies)) ?? planned.fixed ?? worker.requests.single
    }

    /// Gives the user's request its values before it is sent, where its URL is needed later: redirections are resolved
    /// against it, and cookies are chosen by it.
    func settle(_ user: VirtualUser) {
        guard plan.users.redirects > 0 || plan.users.keepsCookies, let planned = user.request, planned.fixed == nil
        else { return }
        take(user)
        if let settled = try? planned.settled(&context) { user.request = settled }
    }

    /// Makes this user's values the ones that fill in the next request's places.
    private func take(_ user: VirtualUser) {
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
    }

    /// Returns a text with its places filled in for the user's request.
    func render(_ template: Template, for user: VirtualUser) -> [UInt8] {
        take(user)
        return template.render(&context, for: .body)
    }

    /// Returns this thread's part of a schedule. All threads of all shards are numbered, and take turns.
    func arrivals(_ profile: LoadProfile, from start: Instant, limit: UInt64? = nil) -> ArrivalSchedule {
        let thread = plan.shard.index * plan.threads + share.index
        return ArrivalSchedule(
            profile,
            from: start,
            thread: thread,
            of: plan.shard.count * plan.threads,
            limit: limit,
            // A run that polls sends each request at its instant.
            grain: plan.spin > 0 ? 0 : ArrivalSchedule.grain,
            random: plan.arrivals == .poisson ? RandomStream(seed: plan.seed &+ 1, stream: thread) : nil
        )
    }
}
