package import UncurlLoad

/// A worker's side of the conversation with its Locust master. It has no socket and no clock: bytes and times go in,
/// effects come out.
///
/// ```
///   handshake ──READY──▶ introduced ──ack──▶ ready ──spawn──▶ running ──stop──▶ stopping ──stopped()──▶ introduced
/// ```
/// A `spawn` in `running` changes the users. Masters before 2.10 send no `ack`, so a `spawn` starts the load in
/// `introduced` too.
struct LocustSession {
    enum Effect: Hashable, Sendable {
        case send([UInt8])
        /// Start or continue with this many users.
        case run(LocustSpawn)
        /// Stop, and call ``stopped(_:at:)`` when every request has its outcome.
        case stop
        /// The master ends this worker. It accepts reports for half a second more.
        case quit
        /// Close this connection, and begin a new session.
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
    private var reader = ZMTP()
    /// The time of the last message, in seconds.
    private var lastHeard: Double
    private var nextHeartbeat = 0.0
    private var nextIntroduction = 0.0
    private var newest = -Double.infinity
    /// When the master has taken this worker in, without an order since.
    private var idleSince: Double?

    /// The time limit for the master's answer to the introduction, in seconds.
    static let introductionSpan = 5.0
    static let heartbeatSpan = 1.0
    /// How long a master that has a test may take to say so to a worker that comes back, in seconds.
    static let orderSpan = 5.0
    /// The time without a message after which the master is lost, in seconds; the same as in Locust's own workers.
    static let patience: UInt64 = 60

    /// - Parameters:
    ///   - identity: the name of this worker at the master. It must be unique.
    init(identity: String, now: Double) {
        self.identity = identity
        lastHeard = now
    }

    /// The bytes to send before anything is received.
    var opening: [UInt8] { ZMTP.greeting + ZMTP.ready(identity: identity) }

    /// Whether the peer is a Locust master: it has sent a message of Locust.
    private(set) var isIntroduced = false

    var order: LocustSpawn? { if case .running(let order) = state { order } else { nil } }

    mutating func received(_ bytes: [UInt8], at now: Double) throws(UsageError) -> [Effect] {
        reader.append(bytes)
        var effects: [Effect] = []
        while let event = try reader.next() {
            lastHeard = now
            switch event {
            case .ready: effects += introduce(at: now)
            case .ping(let context): effects.append(.send(ZMTP.pong(context)))
            case .message(let body): effects += try handle(MessagePack(decoding: body), at: now)
            }
        }
        return effects
    }

    /// Sends introductions and heartbeats that are due. Call it several times per second.
    mutating func tick(at now: Double, _ load: LocustLoad) throws(UsageError) -> [Effect] {
        guard now - lastHeard < Double(Self.patience) else { throw .silent(seconds: Self.patience) }
        var effects: [Effect] = []
        switch state {
        case .handshake: return []
        case .introduced where now >= nextIntroduction: effects = introduce(at: now)
        case .introduced, .ready, .running, .stopping: break
        }
        guard now >= nextHeartbeat else { return effects }
        nextHeartbeat = now + Self.heartbeatSpan
        return effects + [message("heartbeat", heartbeat(load))]
    }

    /// The content of a heartbeat. Without `current_cpu_usage`, the master's listener would fail with an error.
    private func heartbeat(_ load: LocustLoad) -> MessagePack {
        .map([
            "state": .string(stateName), "current_cpu_usage": .number(load.cpu),
            "current_memory_usage": .integer(Int64(clamping: load.memory)),
        ])
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
        // -1 marks a worker in another language, whose version the master ignores.
        return [message("client_ready", .integer(-1))]
    }

    /// A message of Locust in either direction is an array of type, data and the worker's identity.
    private func message(_ type: String, _ data: MessagePack = .null) -> Effect {
        .send(ZMTP.message(MessagePack.array([.string(type), data, .string(identity)]).encoded))
    }

    /// Whether the master has no test for this worker: it has taken it in, and given no order in time.
    func isWithoutTest(at now: Double) -> Bool {
        guard case .ready = state, let idleSince else { return false }
        return now - idleSince >= Self.orderSpan
    }

    // MARK: What the master wants

    private mutating func handle(_ message: MessagePack, at now: Double) throws(UsageError) -> [Effect] {
        guard case .array(let parts) = message, parts.count == 3, let type = parts[0].text else {
            throw .unreadable("it is not an array of type, data and node")
        }
        isIntroduced = true
        switch type {
        case "ack":
            if case .introduced = state { (state, idleSince) = (.ready, now) }
            return []
        case "spawn": return try spawn(LocustSpawn(parts[1]))
        case "stop":
            switch state {
            case .running(let order):
                state = .stopping(order)
                return [.stop]
            // A stop is answered even if nothing runs, because the master waits for the answer.
            case .ready, .introduced: return [self.message("client_stopped")] + introduce(at: now)
            case .handshake, .stopping: return []
            }
        case "quit": return [.quit]
        case "reconnect": return [.reconnect]
        // `received` has recorded the time of a heartbeat. Other messages concern only Locust's own workers.
        default: return []
        }
    }

    /// Masters repeat orders. An order older than the current one is ignored.
    private mutating func spawn(_ order: LocustSpawn) -> [Effect] {
        guard order.timestamp > newest else { return [] }
        newest = order.timestamp
        switch state {
        // A worker that is still stopping learns of the new test from the next order.
        case .handshake, .stopping: return []
        case .introduced, .ready, .running: break
        }
        state = .running(order)
        let users = MessagePack.integer(Int64(order.users))
        let counts = MessagePack.map(["user_classes_count": order.classCounts, "user_count": users])
        return [message("spawning"), .run(order), message("spawning_complete", counts)]
    }

    // MARK: What the worker says

    /// Called when every request of the stopped test has its outcome. `last` has the remaining counts.
    mutating func stopped(_ last: LocustStats?, at now: Double) -> [Effect] {
        guard case .stopping(let order) = state else { return [] }
        let report = last.map { [message("stats", $0.data(classes: order.classCounts, users: 0))] } ?? []
        return report + [message("client_stopped")] + introduce(at: now)
    }

    func report(_ stats: LocustStats) -> [Effect] {
        switch state {
        case .running(let order), .stopping(let order):
            [message("stats", stats.data(classes: order.classCounts, users: order.users))]
        case .handshake, .introduced, .ready: []
        }
    }

    func exception(_ text: String) -> [Effect] {
        [message("exception", .map(["msg": .string(text), "traceback": .string("")]))]
    }

    func farewell() -> [Effect] { [message("quit")] }
}

/// The resources that this process uses, for heartbeats: the CPU use in percent of all cores of the machine, above 90
/// of which the master warns, and the resident memory in bytes.
typealias LocustLoad = (cpu: Double, memory: UInt64)

/// The content of a master's `spawn`.
package struct LocustSpawn: Hashable, Sendable {
    /// The number of users of this worker, by class. It is absolute, and is repeated about once per second while a test
    /// ramps up.
    var classes: [String: Int]
    var host: String?
    /// The master's command line, with the arguments of the locustfile.
    package var options: MessagePack
    /// The time of the master's decision; a later one replaces it.
    var timestamp: Double

    /// The most users. A worker holds one connection per user, and no machine has more.
    static let userLimit = 1_000_000
    /// The most octets in the name of a class. A Python program names them, and names are compared often.
    static let nameLimit = 1_000

    package init(_ data: MessagePack) throws(UsageError) {
        guard case .map(let pairs)? = data["user_classes_count"] else {
            throw .unreadable("its spawn names no user_classes_count")
        }
        classes = [:]
        var sum = 0
        for pair in pairs {
            guard let name = pair.key.text, let count = pair.value.count else {
                throw .unreadable("its user_classes_count is not a map of names and numbers")
            }
            guard name.utf8.count <= Self.nameLimit else {
                throw .unreadable("it names a class with more than \(Self.nameLimit) octets")
            }
            sum += min(count, Self.userLimit + 1)
            guard sum <= Self.userLimit else { throw .unreadable("it wants more than \(Self.userLimit) users") }
            classes[name] = count
        }
        host = data["host"]?.text
        options = data["parsed_options"] ?? .null
        timestamp = data["timestamp"]?.number ?? 0
    }

    package var users: Int { classes.values.reduce(0, +) }

    /// The counts as they came, in a stable order so that messages can be compared.
    var classCounts: MessagePack {
        .map(classes.sorted { $0.key < $1.key }.map { MessagePack.Pair($0.key, .integer(Int64($0.value))) })
    }

    /// The value of an argument that the locustfile declares; nil where it has none.
    func option(_ name: String) -> String? {
        switch options[name] {
        case .string(let text)? where !text.isEmpty: text
        case .integer(let value)?: "\(value)"
        case .number(let value)?: value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
        case nil, .null?, .bool?, .string?, .bytes?, .array?, .map?: nil
        }
    }
}
