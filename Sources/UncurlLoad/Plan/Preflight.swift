import UncurlEngine
import UncurlReactor
import UncurlSemantics
import UncurlTLS

/// The check of a run against this machine.
extension RunPlan {
    /// The descriptors beside the connections: standard streams, reports, name look-ups, and the sixteen that the
    /// engine leaves to the process.
    private static let spareDescriptors: UInt64 = 32
    /// The descriptors of a loop: epoll, eventfd, and a reserve.
    private static let descriptorsPerThread: UInt64 = 4
    /// TCP's two maximum segment lifetimes, in Linux a constant.
    private static let timeWaitSeconds: UInt64 = 60

    static func notes(
        _ options: LoadOptions,
        _ limits: SystemLimits,
        connectsInFlight: Int
    ) throws(LoadTestError) -> [String] {
        var notes = [try portNote(options, limits)].compactMap(\.self)
        if options.targetsThisMachine, UInt64(options.connections) > limits.acceptQueue {
            notes.append(
                "a local server queues at most \(limits.acceptQueue) connects (net.core.somaxconn): volley keeps "
                    + "\(connectsInFlight) under way; for a server with a shorter queue use \(options.names.of(.connectRate))"
            )
        }
        if options.work == .handshakes { notes += handshakeNotes(options, connectsInFlight) }
        if let room = limits.trackedConnections, room < UInt64(options.connections) {
            notes.append(
                "connection tracking has room for \(room) more connections, fewer than \(options.names.of(.connections)) \(options.connections): "
                    + "raise it with `sysctl -w net.netfilter.nf_conntrack_max=…`"
            )
        }
        return notes
    }

    private static func handshakeNotes(_ options: LoadOptions, _ connectsInFlight: Int) -> [String] {
        var notes: [String] = []
        if options.connections > connectsInFlight, !options.targetsThisMachine {
            notes.append(
                "at most \(connectsInFlight) connects and handshakes are under way at once, half of net.core.somaxconn: "
                    + "raise it with `sysctl -w net.core.somaxconn=\(options.connections * 2)`"
            )
        }
        let configuration = options.security.target?.configuration
        if options.reuse == .rst, configuration?.resumes == true, configuration?.maximumVersion == .v1_3 {
            notes.append(
                "\(options.names.of(.connectionClose))=rst ends connections before TLS 1.3's tickets come, so that nothing can be resumed: use "
                    + "\(options.names.of(.connectionClose))=fin "
                    + "to measure resumption"
            )
        }
        return notes
    }

    /// Returns the number of descriptors. With the embedded server, this process has both ends and its threads.
    static func descriptors(_ options: LoadOptions, _ limits: SystemLimits) throws(LoadTestError) -> UInt64 {
        let ends: UInt64 = options.target == nil ? 2 : 1
        let fixed = spareDescriptors + UInt64(options.threads) * descriptorsPerThread * ends
        let need = UInt64(options.connections) * ends + fixed
        guard need <= max(limits.softDescriptors, limits.hardDescriptors) else {
            let most = limits.hardDescriptors > fixed ? (limits.hardDescriptors - fixed) / ends : 0
            throw .descriptors(
                connections: options.connections,
                needed: need,
                allowed: limits.hardDescriptors,
                most: most
            )
        }
        // With several hosts in the inputs, each may get as many connections. If they are more than the process may
        // have, the ones that were idle longest make room.
        let (all, overflow) = need.multipliedReportingOverflow(by: UInt64(hosts(options)))
        return overflow ? limits.hardDescriptors : max(need, min(all, limits.hardDescriptors))
    }

    /// Returns the number of hosts that the inputs name. Paths alone are all for the same one.
    private static func hosts(_ options: LoadOptions) -> Int {
        let authorities = options.inputs.drafts.lazy.map { draft in
            draft.url.hasPrefix("/")
                ? "" : draft.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "/")
        }
        return max(1, Set(authorities).count)
    }

    /// Returns a note about ports that a run may use up.
    private static func portNote(_ options: LoadOptions, _ limits: SystemLimits) throws(LoadTestError) -> String? {
        guard options.unixSocket == nil else { return nil }
        let sources = UInt64(max(1, options.sources.count))
        let ports = limits.ports * sources
        guard UInt64(options.connections) <= ports else {
            let wanted = (UInt64(options.connections) + limits.ports - 1) / max(1, limits.ports)
            throw .ports(
                connections: options.connections,
                available: ports,
                sources: sources,
                sourcesNeeded: wanted
            )
        }
        let portsComeBack = limits.timeWaitReuse == 1 || limits.timeWaitReuse == 2 && options.targetsThisMachine
        guard options.reuse == .fin, !portsComeBack, options.requests ?? .max > ports else { return nil }
        let rate = ports / timeWaitSeconds
        return
            "\(options.names.of(.connectionClose))=fin leaves each local port in TIME_WAIT for \(timeWaitSeconds) s and there are \(ports): "
            + "beyond \(rate) connections a second connects will fail; use \(options.names.of(.connectionClose))=rst, more addresses with "
            + "\(options.names.of(.sourceAddresses)), or `sysctl -w net.ipv4.tcp_tw_reuse=1`"
    }
}

extension LoadOptions {
    /// Whether the destination is this machine by its text: loopback, a unix socket, the embedded server.
    package var targetsThisMachine: Bool {
        guard let host = firstHop?.bare else { return true }
        if let address = SocketAddress(numericHost: host, port: 0) { return address.isLoopback }
        return host == "localhost" || host.hasSuffix(".localhost")
    }
}
