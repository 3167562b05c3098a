import LoadGenerator

/// A worker's side of Locust's conversation with its master, without a socket or a clock: bytes and times go in, what
/// is to be done comes out.
///
/// ```
///   handshake ──READY──▶ introduced ──ack──▶ ready ──spawn──▶ running ──stop──▶ stopping ──stopped()──▶ introduced
/// ```
/// `spawn` in `running` changes the users. Masters before 2.10 send no `ack`: there a `spawn` is as good.
struct LocustSession {
    enum Effect: Hashable, Sendable {
        case send([UInt8])
        /// Run with so many users, or go on with them.
        case run(LocustSpawn)
        /// Stop, and call ``stopped(_:at:)`` once all requests have their outcome.
        case stop
        /// The master ends us; it takes reports for half a second more.
        case quit
        /// Drop this connection, and begin a new session.
        case reconnect
    }

    private enum State {
        case handshake
        case introduced
        case ready
        case running(LocustSpawn)
        case stopping(LocustSpawn)
    }

    let identity: String
    private var state = State.handshake
    private var reader = ZMTPReader()
    /// Seconds, from here on.
    private var lastHeard: Double
    private var nextHeartbeat = 0.0
    private var nextIntroduction = 0.0
    private var newest = -Double.infinity

    /// Until the master has answered our introduction.
    static let introductionSpan = 5.0
    static let heartbeatSpan = 1.0
    /// What Locust's own workers wait for a sign of life.
    static let patience: UInt64 = 60

    /// - Parameters:
    ///   - identity: what the master knows us by; no second worker may have it.
    ///   - now: seconds, on any clock that goes on evenly.
    init(identity: String, now: Double) {
        self.identity = identity
        lastHeard = now
    }

    /// What goes out before anything has come in.
    var opening: [UInt8] { ZMTP.greeting + ZMTP.ready(identity: identity) }

    /// It was a master that answered: what came after the greeting was ZeroMQ's and Locust's.
    private(set) var isIntroduced = false

    /// Users that the master has asked for and not taken back.
    var order: LocustSpawn? {
        switch state {
        case .running(let order): order
        case .handshake, .introduced, .ready, .stopping: nil
        }
    }

    mutating func received(_ bytes: [UInt8], at now: Double) throws(LocustError) -> [Effect] {
        reader.append(bytes)
        var effects: [Effect] = []
        while let event = try nextEvent() {
            lastHeard = now
            switch event {
            case .ready: effects += introduce(at: now)
            case .ping(let context): effects.append(.send(ZMTP.pong(context)))
            case .message(let body): effects += try handle(LocustMessage(decoding: body), at: now)
            }
        }
        return effects
    }

    private mutating func nextEvent() throws(LocustError) -> ZMTPReader.Event? {
        do throws(ZMTPError) { return try reader.next() } catch { throw .peer(error) }
    }

    /// What is due: introductions and heartbeats. To be called several times a second.
    ///
    /// - Parameter load: of the machine, for the heartbeat.
    mutating func tick(at now: Double, _ load: LocustLoad) throws(LocustError) -> [Effect] {
        guard now - lastHeard < Double(Self.patience) else { throw .silent(seconds: Self.patience) }
        var effects: [Effect] = []
        switch state {
        case .handshake: return []
        case .introduced where now >= nextIntroduction: effects = introduce(at: now)
        case .introduced, .ready, .running, .stopping: break
        }
        guard now >= nextHeartbeat else { return effects }
        nextHeartbeat = now + Self.heartbeatSpan
        return effects + [message("heartbeat", load.heartbeat(state: stateName))]
    }

    private var stateName: String {
        switch state {
        case .handshake, .introduced, .ready: "ready"
        case .running, .stopping: "running"
        }
    }

    private mutating func introduce(at now: Double) -> [Effect] {
        state = .introduced
        nextIntroduction = now + Self.introductionSpan
        // -1: a worker in another language, whose version says nothing.
        return [message("client_ready", .integer(-1))]
    }

    private func message(_ type: String, _ data: MessagePack = .null) -> Effect {
        .send(ZMTP.message(LocustMessage(type, data, node: identity).encoded))
    }

    // MARK: What the master wants

    private mutating func handle(_ message: LocustMessage, at now: Double) throws(LocustError) -> [Effect] {
        isIntroduced = true
        switch message.type {
        case "ack":
            if case .introduced = state { state = .ready }
            return []
        case "spawn": return try spawn(LocustSpawn(message.data))
        case "stop":
            switch state {
            case .running(let order):
                state = .stopping(order)
                return [.stop]
            // A stop with nothing to stop is answered all the same: the master waits for it.
            case .ready, .introduced: return [self.message("client_stopped")] + introduce(at: now)
            case .handshake, .stopping: return []
            }
        case "quit": return [.quit]
        case "reconnect": return [.reconnect]
        // Heartbeats were noted by the time they came; all else is news for Locust's own workers.
        default: return []
        }
    }

    /// Masters repeat themselves; an order that was overtaken is not carried out.
    private mutating func spawn(_ order: LocustSpawn) -> [Effect] {
        guard order.timestamp > newest else { return [] }
        newest = order.timestamp
        switch state {
        // One who is still stopping hears of the new test by the next order.
        case .handshake, .stopping: return []
        case .introduced, .ready, .running: break
        }
        state = .running(order)
        let counts = MessagePack.map([
            MessagePack.Pair("user_classes_count", order.classCounts),
            MessagePack.Pair("user_count", .integer(Int64(order.users))),
        ])
        return [message("spawning"), .run(order), message("spawning_complete", counts)]
    }

    // MARK: What the worker says

    /// All requests of the stopped test have their outcome; `last` is the report of them.
    mutating func stopped(_ last: LocustStats?, at now: Double) -> [Effect] {
        guard case .stopping(let order) = state else { return [] }
        let report = last.map { [message("stats", $0.data(of: order, users: 0))] } ?? []
        return report + [message("client_stopped")] + introduce(at: now)
    }

    func report(_ stats: LocustStats) -> [Effect] {
        switch state {
        case .running(let order), .stopping(let order): [message("stats", stats.data(of: order, users: order.users))]
        case .handshake, .introduced, .ready: []
        }
    }

    /// Something that went wrong here and that the master's page should show.
    func exception(_ text: String) -> [Effect] {
        [
            message(
                "exception",
                .map([MessagePack.Pair("msg", .string(text)), MessagePack.Pair("traceback", .string(""))])
            )
        ]
    }

    /// We leave on our own.
    func farewell() -> [Effect] { [message("quit")] }
}

/// The machine's load, as a heartbeat tells it.
struct LocustLoad: Hashable, Sendable {
    /// Percent of a core; the master warns above 90.
    var cpu: Double
    /// Bytes.
    var memory: UInt64

    /// Without the CPU's use the master's listener would end with an error.
    fileprivate func heartbeat(state: String) -> MessagePack {
        .map([
            MessagePack.Pair("state", .string(state)), MessagePack.Pair("current_cpu_usage", .number(cpu)),
            MessagePack.Pair("current_memory_usage", .integer(Int64(clamping: memory))),
        ])
    }
}
