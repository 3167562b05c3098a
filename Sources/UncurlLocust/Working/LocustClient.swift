import CUncurlLinux
internal import UncurlLibC
package import UncurlLoad
import UncurlReactor
package import UncurlSemantics

/// A Locust worker: it connects to a master, and starts, changes and ends the load as the master says. It uses the main
/// thread.
package struct LocustClient {
    private let host: URLHost
    private let port: UInt16
    private let target: LoadOptions
    private let isCoarse: Bool
    private let isQuiet: Bool
    /// Whether the load ends while the master is away. Otherwise only the master can stop it.
    private let stopsAlone: Bool
    private let identity: String
    private var signals = SignalWait()
    private var swarm: LocustSwarm?
    /// The time at which a swarm that was told to stop is ended by force.
    private var deadline: Double?
    /// The processor time of this process at the last heartbeat that measured it, and the share of the machine then.
    private var clocks = (wall: uncurl_clock_ns(CLOCK_MONOTONIC), cpu: uncurl_clock_ns(CLOCK_PROCESS_CPUTIME_ID))
    private var percent = 0.0
    private var totals = Metrics()
    /// When a master was last there, in seconds.
    private var lastMaster: Double

    /// The pause between attempts to connect to a master, in nanoseconds.
    private static let retrySpan: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - port: the master's port; Locust's default is 5557.
    ///   - stopsAlone: whether the load ends when the connection to the master is lost. Otherwise it continues while
    ///     the worker looks for the master.
    package init(
        master host: URLHost,
        port: UInt16,
        _ target: LoadOptions,
        isCoarse: Bool,
        isQuiet: Bool,
        stopsAlone: Bool = false
    ) {
        (self.host, self.port, self.target, self.isQuiet) = (host, port, target, isQuiet)
        (self.isCoarse, self.stopsAlone) = (isCoarse, stopsAlone)
        identity = Self.makeIdentity()
        lastMaster = Self.now
    }

    /// An identity like those of Locust's own workers: the name of the machine and a random part.
    private static func makeIdentity() -> String {
        var name = [CChar](repeating: 0, count: 65)
        _ = unsafe gethostname(&name, 64)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(host)_\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }

    /// Works for the master until it says quit, the user interrupts, or no master is found for a minute.
    package mutating func perform() throws(UsageError) -> Verdict {
        let address = try find()
        while true {
            let ending: Verdict?
            var isConnected = false
            do throws(UsageError) {
                var link = try LocustLink(to: address)
                isConnected = true
                say("connected to the master at \(address) as \(identity)")
                ending = try serve(&link)
            } catch {
                guard !Self.isTooLong(since: lastMaster, until: now) else {
                    dropSwarm()
                    sayTotals()
                    throw .master(error)
                }
                if isConnected { say("\(error); connecting again") }
                if stopsAlone, swarm != nil {
                    dropSwarm()
                    say("the load has stopped until a master is found")
                }
                ending = signals.wait(nanoseconds: Self.retrySpan) ? .interrupted : nil
            }
            guard let ending else { continue }
            dropSwarm()
            sayTotals()
            return ending == .interrupted ? ending : Verdict(totals, of: .requests, interrupted: false)
        }
    }

    private mutating func find() throws(UsageError) -> SocketAddress {
        let name = host.bare
        if let address = SocketAddress(numericHost: name, port: port) { return address }
        let group: EventLoopGroup
        do throws(Errno) {
            group = try EventLoopGroup(count: 1, name: "names")
        } catch {
            throw .thread(reason: "\(error)")
        }
        defer { group.shutdown() }
        let found: [IPAddress]
        do throws(LoadTestError) {
            found = try NameLookup.addresses(of: name, on: group.loops[0], &signals)
        } catch {
            throw .load(error, target.names)
        }
        guard let first = found.first else { throw .noAddress(name) }
        return SocketAddress(first, port: port)
    }

    /// Serves one connection until it ends. Returns nil to connect again.
    private mutating func serve(_ link: inout LocustLink) throws(UsageError) -> Verdict? {
        var session = LocustSession(identity: identity, now: now)
        defer { if session.isIntroduced { lastMaster = now } }
        try link.send(session.opening)
        while true {
            let bytes = try link.receive(milliseconds: 50)
            if !bytes.isEmpty {
                for effect in try session.received(bytes, at: now) {
                    switch effect {
                    case .send(let bytes): try link.send(bytes)
                    case .run(let order): try run(order, &session, &link)
                    case .stop: retireSwarm()
                    case .quit:
                        try finish(&session, &link)
                        return .good
                    case .reconnect:
                        say("the master asks for a new connection")
                        return nil
                    }
                }
            }
            try send(session.tick(at: now, load()), &link)
            try work(&session, &link)
            if signals.wait(nanoseconds: 0) {
                try send(session.farewell(), &link)
                return .interrupted
            }
        }
    }

    private mutating func run(
        _ order: LocustSpawn,
        _ session: inout LocustSession,
        _ link: inout LocustLink
    ) throws(UsageError) {
        // A load that is ending anyway, or has another target, is not the one that is wanted.
        if deadline != nil { dropSwarm() }
        do throws(UsageError) {
            if let swarm, try swarm.fits(order) { return try swarm.follow(order) }
        } catch {
            return try tell(error, session, &link)
        }
        try finish(&session, &link)
        do throws(UsageError) {
            let new = try LocustSwarm(target, isCoarse: isCoarse, order, &signals)
            say("testing \(new.plan.url)")
            swarm = new
        } catch {
            try tell(error, session, &link)
        }
    }

    /// The test continues without this worker. The master's page shows the reason.
    private func tell(
        _ error: UsageError,
        _ session: LocustSession,
        _ link: inout LocustLink
    ) throws(UsageError) {
        say("\(error)")
        try send(session.exception("volley: \(error)"), &link)
    }

    private mutating func retireSwarm() {
        swarm?.retire()
        // Streams need not end.
        let patience = target.stream == nil ? Double(target.timeout) / 1e9 : 0
        deadline = now + patience + 1
    }

    /// Sends reports that are due in a test, and ends a test that was stopped.
    private mutating func work(_ session: inout LocustSession, _ link: inout LocustLink) throws(UsageError) {
        if let swarm {
            if let stats = swarm.report() { try send(session.report(stats), &link) }
            // The load has outlived its master, and the present one has no test.
            if deadline == nil, session.isWithoutTest(at: now) {
                say("the master has no test: the load ends")
                retireSwarm()
            }
            if let deadline, now >= deadline { swarm.stop() }
            guard swarm.isOver else { return }
            let rest = endSwarm()
            try send(session.stopped(rest, at: now), &link)
        } else if deadline != nil {
            deadline = nil
            try send(session.stopped(nil, at: now), &link)
        }
    }

    /// Ends the swarm and sends the last report, which the master accepts for half a second after its `quit`.
    private mutating func finish(_ session: inout LocustSession, _ link: inout LocustLink) throws(UsageError) {
        guard let swarm else { return }
        if session.order != nil { swarm.retire() }
        let end = now + 0.3
        while !swarm.isOver, now < end { _ = signals.wait(nanoseconds: 5_000_000) }
        swarm.stop()
        while !swarm.isOver, now < end + 5 { _ = signals.wait(nanoseconds: 5_000_000) }
        if let rest = endSwarm() { try send(session.report(rest), &link) }
    }

    private mutating func endSwarm() -> LocustStats? {
        guard let swarm else { return nil }
        let rest = swarm.end()
        totals.merge(swarm.total)
        (self.swarm, deadline) = (nil, nil)
        return rest
    }

    private mutating func dropSwarm() {
        guard let swarm else { return }
        swarm.stop()
        while !swarm.isOver { _ = signals.wait(nanoseconds: 10_000_000) }
        _ = endSwarm()
    }

    private func send(_ effects: [LocustSession.Effect], _ link: inout LocustLink) throws(UsageError) {
        for case .send(let bytes) in effects { try link.send(bytes) }
    }

    /// Whether a worker has looked for its master long enough: for a minute since the last connection to one. A server
    /// that sends anything but Locust's messages is not a master.
    static func isTooLong(since last: Double, until now: Double) -> Bool { now - last >= 60 }

    private func sayTotals() {
        let remarks = totals.remarks.map { ", \(grouped($0.count)) \($0.title)" }.joined()
        say("\(grouped(totals[.completed])) requests completed, \(grouped(totals.errors)) errors\(remarks)")
    }

    private static var now: Double { Double(Instant.current().nanoseconds) / 1e9 }

    private var now: Double { Self.now }

    private func say(_ note: String) {
        guard !isQuiet else { return }
        try? BlockingOutput.writeAll("volley: \(note)\n", to: BlockingOutput.errors)
    }
}

extension LocustClient {
    /// Returns the resources that this process uses. The CPU use is measured over at least a second, in percent of all
    /// cores of this machine.
    private mutating func load() -> LocustLoad {
        let wall = uncurl_clock_ns(CLOCK_MONOTONIC)
        if wall - clocks.wall >= 1_000_000_000 {
            let cpu = uncurl_clock_ns(CLOCK_PROCESS_CPUTIME_ID)
            let cores = Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            percent = Double(cpu - clocks.cpu) / Double(wall - clocks.wall) * 100 / cores
            clocks = (wall, cpu)
        }
        return (percent, Self.residentBytes())
    }

    /// The resident memory of the process; 0 without /proc.
    private static func residentBytes() -> UInt64 {
        let pages = numbers(inFile: "/proc/self/statm")
        return pages.count > 1 ? pages[1] * UInt64(max(1, sysconf(Int32(_SC_PAGESIZE)))) : 0
    }
}
