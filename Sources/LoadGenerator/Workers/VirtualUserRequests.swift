import HTTPEngine
import Reactor

/// The values of a virtual user's request, and the schedule of a thread's requests.
extension VirtualUserDriver {
    /// Returns the request to send: the finished one, or one with this user's values and cookies.
    func ready(_ planned: PlannedRequest, _ user: VirtualUser) -> EngineRequest {
        var cookies: String?
        if plan.users.keepsCookies {
            cookies = user.cookies?.field(for: planned.cookieScope, now: VirtualUserDriver.wallClock())
        }
        if cookies == nil, let fixed = planned.fixed { return fixed }
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
        let more = cookies.map { [(name: "Cookie", value: $0)] } ?? []
        // Values can always be sent, and cookies are checked when they are set. If a request cannot be written even so,
        // its finished form without cookies is sent, or else the run's own request.
        return (try? planned.filled(&context, adding: more)) ?? planned.fixed ?? worker.requests.single
    }

    /// Returns a text with its places filled in for the user's request.
    func render(_ template: Template, for user: VirtualUser) -> [UInt8] {
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
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
