import HTTPEngine
import Reactor

/// What a virtual user's request is made of, and when a thread's requests are due.
extension VirtualUserDriver {
    /// The bytes of a request: the same for all, or with what this one has of its own.
    func ready(_ planned: PlannedRequest, _ user: VirtualUser) -> EngineRequest {
        var cookies: String?
        if plan.users.keepsCookies {
            cookies = user.cookies?.field(for: planned.cookieScope, now: VirtualUserDriver.wallClock())
        }
        if cookies == nil, let fixed = planned.fixed { return fixed }
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
        let more = cookies.map { [(name: "Cookie", value: $0)] } ?? []
        // Values can always be sent, and cookies are checked when they are set. If the request cannot be written even
        // so, it is sent without its values.
        return (try? planned.filled(&context, adding: more)) ?? planned.fixed ?? worker.requests.single
    }

    /// A text with its places filled in for the user's request.
    func render(_ template: Template, for user: VirtualUser) -> [UInt8] {
        (context.user, context.number, context.variables) = (user.number, user.sequence, user.variables)
        return template.render(&context, for: .body)
    }

    /// This thread's part: of all threads of all shards it has one number, and they take turns.
    func arrivals(_ profile: LoadProfile, from start: Instant, limit: UInt64? = nil) -> ArrivalSchedule {
        let thread = plan.shard.index * plan.threads + share.index
        return ArrivalSchedule(
            profile,
            from: start,
            thread: thread,
            of: plan.shard.count * plan.threads,
            limit: limit,
            // A run that polls is to send each request at its instant.
            grain: plan.spin > 0 ? 0 : ArrivalSchedule.grain,
            random: plan.arrivals == .poisson ? RandomStream(seed: plan.seed &+ 1, stream: thread) : nil
        )
    }
}
