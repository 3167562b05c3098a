internal import Synchronization
import UncurlEngine
package import UncurlReactor

/// Looks up the names of target and proxy once, before a run. An unknown name is then an error at once, and the run
/// does not measure the name server.
package final class NameLookup: Sendable {
    /// Returns a resolver that already has the addresses of the plan's hosts.
    package static func resolver(
        for plan: RunPlan,
        on loop: EventLoop,
        _ signals: inout SignalWait
    ) throws(LoadTestError) -> Resolver {
        var options = Resolver.Options()
        if let family = plan.options.family {
            // Hosts that a list's requests name are looked up during the run.
            let usual = options.lookup
            options.lookup = { host, asked throws(ResolveError) in
                guard asked == family else { throw .noAddress }
                return try usual(host, asked)
            }
            options.hostsFile = nil
        }
        for name in plan.hostNames {
            let known = try addresses(of: name, on: loop, &signals).filter {
                $0.family == plan.options.family ?? $0.family
            }
            guard !known.isEmpty else {
                throw .unknownHost(name, reason: "it has no \(plan.options.family == .v4 ? "IPv4" : "IPv6") address")
            }
            options.overrides[name.hasSuffix(".") ? String(name.dropLast()) : name] = known
        }
        return Resolver(options: options)
    }

    package static func addresses(
        of name: String,
        on loop: EventLoop,
        _ signals: inout SignalWait
    ) throws(LoadTestError) -> [IPAddress] {
        let resolver = Resolver()
        defer { resolver.shutdown() }
        let answers = NameLookup()
        loop.post { answers.ask(resolver, name, on: loop) }
        while true {
            switch answers.outcome {
            case .success(let addresses)?:
                return addresses
            case .failure(let error)?:
                throw .unknownHost(name, reason: "\(error)")
            case nil:
                break
            }
            if signals.wait(nanoseconds: 1_000_000_000) {
                throw .interrupted(host: name)
            }
        }
    }

    /// Both families' answers, on their way from the loop to the main thread. The lock guards `state`.
    private let state = Mutex<(addresses: [IPAddress], error: ResolveError?, missing: Int)>(([], nil, 2))

    /// The result: addresses of either family are enough. Nil while answers are missing.
    private var outcome: Result<[IPAddress], ResolveError>? {
        state.withLock { state in
            guard state.missing == 0 else { return nil }
            if state.addresses.isEmpty { return .failure(state.error ?? .noAddress) }
            return .success(state.addresses)
        }
    }

    private func ask(_ resolver: Resolver, _ name: String, on loop: EventLoop) {
        do throws(ResolveError) {
            let resolution = try resolver.resolve(name, on: loop) { [self] _, result in take(result, count: 1) }
            switch resolution {
            case .known(let addresses): take(.success(addresses), count: 2)
            case .pending: break
            }
        } catch {
            take(.failure(error), count: 2)
        }
    }

    private func take(_ result: Result<[IPAddress], ResolveError>, count: Int) {
        state.withLock { state in
            switch result {
            case .success(let addresses): state.addresses += addresses
            case .failure(let error): state.error = state.error ?? error
            }
            state.missing -= count
        }
        SignalWait.wake()
    }
}
