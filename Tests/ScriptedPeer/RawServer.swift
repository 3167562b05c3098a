import UncurlReactor
import UncurlTLS

/// A server that plays scripts: exact bytes, with a pause, FIN or RST at any offset, whatever the peer sends. It tests
/// how a client handles faults.
///
/// Connection 0 gets the first script, connection 1 the second, and every later one `otherwise`. All received bytes are
/// recorded. It may be used on any thread; the calls that wait block and throw after a time limit.
public final class RawServer: Sendable {
    /// The error of a wait whose time limit has passed, with the awaited event and the record so far.
    public struct TimedOut: Error, CustomStringConvertible {
        /// One line that names the awaited event and the record so far.
        public let description: String
    }

    /// Loopback needs less time than this even on a busy machine, so a longer wait means a defect.
    public static let defaultLimit = Duration.seconds(60)

    /// Where the server listens.
    public let address: SocketAddress
    private let group: EventLoopGroup
    private let records: Monitor<[RawRecord]>
    private let acceptor: LoopBound<RawAcceptor>

    /// Listens on `address`, with a loop of its own.
    public static func start(
        address: SocketAddress = .loopback(),
        _ scripts: [RawScript] = [],
        otherwise: RawScript = .silent
    ) throws(Errno) -> RawServer {
        try RawServer(address, scripts, otherwise, accepts: true)
    }

    /// Listens with a full backlog and never accepts, so a connect to it hangs until its own time limit. TCP only.
    public static func neverAccepting() throws(Errno) -> RawServer {
        try RawServer(.loopback(), [], .silent, accepts: false)
    }

    private init(
        _ address: SocketAddress,
        _ scripts: [RawScript],
        _ otherwise: RawScript,
        accepts: Bool
    ) throws(Errno) {
        let records = Monitor<[RawRecord]>([])
        group = try EventLoopGroup(count: 1, name: "raw-server")
        let loop = group.loops[0]
        self.records = records
        do throws(Errno) {
            acceptor = try loop.perform { () throws(Errno) in
                LoopBound(try RawAcceptor(loop, address, scripts, otherwise, records, accepts), on: loop)
            }
            let (acceptor, ours) = (acceptor, address)
            self.address = try loop.perform { acceptor.value.address ?? ours }
        } catch {
            group.shutdown()
            throw error
        }
    }

    /// The port, or 0 for a unix socket.
    public var port: UInt16 { address.port ?? 0 }

    /// `http://127.0.0.1:port` and the path. A unix socket has no URL, so `localhost` stands for it.
    public func url(_ path: String) -> String {
        address.port == nil ? "http://localhost\(path)" : "http://\(address)\(path)"
    }

    /// The `https` URL for scripts that begin with ``RawStep/handshake(_:)``. By default `localhost` replaces the
    /// address.
    public func secureURL(_ path: String, host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    /// Everything recorded so far, by connection.
    public var connections: [RawRecord] { records.withLock { $0 } }

    /// The bytes that connection `index` has sent so far; empty if there is no such connection yet.
    public func received(_ index: Int) -> [UInt8] {
        records.withLock { $0.indices.contains(index) ? $0[index].received : [] }
    }

    /// Waits until `count` connections have been accepted in all.
    @discardableResult
    public func waitForConnections(
        _ count: Int,
        within limit: Duration = defaultLimit
    ) throws(TimedOut) -> [RawRecord] {
        if let found = records.wait(atMost: limit, until: { $0.count >= count ? $0 : nil }) { return found }
        throw TimedOut(description: "waited \(limit) for \(count) connections; \(connections.count) came")
    }

    /// Waits until `condition` holds for connection `index`. The text names the condition in the error.
    @discardableResult
    public func wait(
        for index: Int,
        _ what: String,
        within limit: Duration = defaultLimit,
        until condition: (RawRecord) -> Bool
    ) throws(TimedOut) -> RawRecord {
        let found = records.wait(atMost: limit) { records in
            records.indices.contains(index) && condition(records[index]) ? records[index] : nil
        }
        if let found { return found }
        let last = records.withLock {
            $0.indices.contains(index) ? String(describing: $0[index]) : "no such connection"
        }
        throw TimedOut(description: "waited \(limit) for connection \(index): \(what); it is \(last)")
    }

    /// Waits until connection `index` has sent `count` bytes.
    @discardableResult
    public func waitForBytes(
        _ count: Int,
        on index: Int,
        within limit: Duration = defaultLimit
    ) throws(TimedOut) -> [UInt8] {
        try wait(for: index, "\(count) bytes", within: limit) { $0.received.count >= count }.received
    }

    /// Waits for FIN or RST from the peer on connection `index`.
    @discardableResult
    public func waitForEnd(of index: Int, within limit: Duration = defaultLimit) throws(TimedOut) -> RawRecord {
        try wait(for: index, "FIN or RST", within: limit) { $0.sawFinish || $0.sawReset }
    }

    /// Closes everything and waits for the end of the loop's thread. Further calls have no effect.
    public func stop() {
        let acceptor = acceptor
        for loop in group.loops { loop.post { acceptor.value.close() } }
        group.shutdown()
    }

    deinit { stop() }
}

/// Gives each new connection its script. It belongs to the loop.
private final class RawAcceptor {
    private let loop: EventLoop
    private let scripts: [RawScript]
    private let otherwise: RawScript
    private let records: Monitor<[RawRecord]>
    private var listener: Listener?
    private var connections: [RawConnection] = []
    /// The connections that fill the backlog of a listener that never accepts, so that the next one finds no room.
    /// Linux holds one connection more than the backlog says, and drops further SYNs silently.
    private var fillers: InlineArray<2, Socket>?

    init(
        _ loop: EventLoop,
        _ address: SocketAddress,
        _ scripts: [RawScript],
        _ otherwise: RawScript,
        _ records: Monitor<[RawRecord]>,
        _ accepts: Bool
    ) throws(Errno) {
        self.loop = loop
        self.scripts = scripts
        self.otherwise = otherwise
        self.records = records
        listener = try Listener(
            on: loop,
            at: address,
            backlog: accepts ? 4096 : 0,
            unreadLimit: RawAcceptor.unreadLimit,
            accepting: accepts
        ) { [weak self] in self?.take($0) }
        guard !accepts, let bound = listener?.address else { return }
        fillers = [try Self.connected(to: bound), try Self.connected(to: bound)]
    }

    private static func connected(to address: SocketAddress) throws(Errno) -> Socket {
        let socket = try Socket(address.family)
        try socket.connect(to: address)
        return socket
    }

    var address: SocketAddress? { listener?.address }

    func close() {
        listener?.close()
        listener = nil
        for connection in connections { connection.close() }
        connections = []
    }

    /// The size of the receive buffer, in bytes. Bytes that a script does not read stay with the sender, whose socket
    /// is full after a few megabytes. It also applies to connections that are not accepted yet.
    private static let unreadLimit = 64 * 1024

    private func take(_ socket: consuming Socket) {
        let record = RawRecord(connected: loop.stamp(), peer: socket.peerAddress)
        let index = records.update { records in
            records.append(record)
            return records.count - 1
        }
        let script = index < scripts.count ? scripts[index] : otherwise
        let connection = RawConnection(socket, index: index, script: script, loop: loop, records: records)
        connections.append(connection)
        connection.start()
    }
}

/// What a ``RawServer`` saw of one connection.
public struct RawRecord: Sendable {
    /// When it was accepted, on the monotonic clock.
    public let connected: Instant
    /// The peer's address; nil for an unnamed unix socket.
    public let peer: SocketAddress?
    /// All received bytes, in order; over TLS, decrypted.
    public internal(set) var received: [UInt8] = []
    /// The reads: their times and the number of bytes so far.
    public internal(set) var arrivals: [(time: Instant, total: Int)] = []
    /// Whether the peer's FIN came.
    public internal(set) var sawFinish = false
    /// Whether the peer's RST came, or the kernel's for a write after the peer's close.
    public internal(set) var sawReset = false
    /// Whether the peer's close_notify came.
    public internal(set) var sawCloseNotify = false
    /// The result of the TLS handshake, once it has ended.
    public internal(set) var tls: TLSInfo?
    /// The server name that the client indicated.
    public internal(set) var serverName: String?
    /// Why TLS ended early, for example because of the peer's alert.
    public internal(set) var tlsError: TLSError?
    /// Bytes of the script that the kernel has accepted; over TLS, bytes of ciphertext.
    public internal(set) var sentCount = 0
    /// Steps of the script that are done, including those of earlier rounds.
    public internal(set) var stepsDone = 0
    /// Whether this side has closed the connection.
    public internal(set) var isClosed = false

    /// ``received`` as UTF-8, with U+FFFD for invalid octets.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }
}
