public import UncurlReactor
public import UncurlTLS

/// A local HTTP/1.1 server with httpbin's routes, for tests and load runs. It uses nothing of the client engine: a
/// client must not be tested against itself.
///
/// ```swift
/// let server = try TestServer.start()
/// defer { server.stop() }
/// … server.url("/get") …
/// ```
/// Each loop has its own thread and listener. Every member may be used on any thread but the server's own;
/// ``stop(within:)`` blocks.
public final class TestServer: Sendable {
    /// The bound address, with the port that the kernel chose for port 0.
    public let address: SocketAddress
    private let isSecure: Bool
    private let group: EventLoopGroup
    private let loops: [LoopBound<ServerLoop>]
    private let counters: [ServerCounters]
    /// The number of loops whose last connection has ended since ``stop(within:)``.
    private let emptied = Monitor(0)
    /// Whether the server has stopped; nil before it is told to.
    private let stopped = Monitor<Bool?>(nil)

    /// Listens on `address` (TCP, or unix with abstract names too) with `loops` threads.
    ///
    /// Over TCP, the kernel distributes connections over the loops (SO_REUSEPORT). A unix socket has one listener,
    /// which passes connections to the loops in turn. With `tls` it serves https only.
    public static func start(
        loops: Int = 1,
        address: SocketAddress = .loopback(),
        options: ServerOptions = ServerOptions(),
        tls: TLSServerContext? = nil
    ) throws(Errno) -> TestServer {
        try TestServer(loops, address, options, tls)
    }

    private init(
        _ count: Int,
        _ wanted: SocketAddress,
        _ options: ServerOptions,
        _ tls: TLSServerContext?
    ) throws(Errno) {
        isSecure = tls != nil
        let group = try EventLoopGroup(count: count, name: "test-server")
        let counters = group.loops.map { _ in ServerCounters() }
        let uploads = ServerUploads()
        do throws(Errno) {
            var servers: [LoopBound<ServerLoop>] = []
            for (loop, own) in zip(group.loops, counters) {
                servers.append(
                    try loop.perform {
                        let secure = tls.map { SecureScratch($0) }
                        let shared = ServerScratch(
                            options: options,
                            secure: secure,
                            counters: own,
                            all: counters,
                            uploads: uploads
                        )
                        return LoopBound(ServerLoop(loop, shared, all: group.loops), on: loop)
                    }
                )
            }
            address = try TestServer.listen(servers, group.loops, wanted)
            loops = servers
        } catch {
            group.shutdown()
            throw error
        }
        self.group = group
        self.counters = counters
    }

    private static func listen(
        _ servers: [LoopBound<ServerLoop>],
        _ loops: [EventLoop],
        _ wanted: SocketAddress
    ) throws(Errno) -> SocketAddress {
        var address = wanted
        switch wanted {
        case .v4, .v6:
            if servers.count > 1 { try claim(wanted, loops[0]) }
            for (server, loop) in zip(servers, loops) {
                let bound = address
                let shares = servers.count > 1
                address = try loop.perform { () throws(Errno) in
                    let server = server.value
                    return try server.listen(bound, sharing: shares) { [unowned server] in server.take($0) }
                }
            }
        case .unix:
            address = try loops[0].perform { () throws(Errno) in
                var next = 0
                return try servers[0].value.listen(wanted, sharing: false) { socket in
                    let (server, loop) = (servers[next % servers.count], loops[next % loops.count])
                    next &+= 1
                    let number = socket.release()
                    loop.post { server.value.take(Socket(adopting: number)) }
                }
            }
        }
        return address
    }

    /// Listeners that share a port would also share it with another process of this user, which would silently take
    /// half of the connections. So a listener that does not share checks the port first.
    private static func claim(_ address: SocketAddress, _ loop: EventLoop) throws(Errno) {
        try loop.perform { () throws(Errno) in try Listener(on: loop, at: address) { _ in }.close() }
    }

    /// The port, or 0 for a unix socket.
    public var port: UInt16 { address.port ?? 0 }

    /// `http://127.0.0.1:port` and `path`, which begins with `/`. A unix socket has no URL, so `localhost` stands for
    /// it.
    public func url(_ path: String) -> String {
        "\(isSecure ? "https" : "http")://\(address.port == nil ? "localhost" : "\(address)")\(path)"
    }

    /// The same URL with another host name, which is not looked up, for certificates without an address.
    public func url(_ path: String, host: String) -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)\(path)"
    }

    // MARK: Counting

    /// The number of requests whose head was read completely. A request is counted before its response is sent, so a
    /// client that has the response finds it counted.
    public var requestCount: UInt64 { counters.reduce(0) { $0 &+ $1.requests.value } }

    /// The number of final responses whose last octet the kernel has accepted.
    public var responsesSent: UInt64 { counters.reduce(0) { $0 &+ $1.responses.value } }

    /// Connections accepted so far.
    public var connectionsAccepted: UInt64 { counters.reduce(0) { $0 &+ $1.connections.value } }
    /// The octets received so far; over TLS, of ciphertext.
    public var bytesReceived: UInt64 { counters.reduce(0) { $0 &+ $1.bytesReceived.value } }
    /// The octets sent so far; over TLS, of ciphertext.
    public var bytesSent: UInt64 { counters.reduce(0) { $0 &+ $1.bytesSent.value } }

    // MARK: Faults

    /// Makes every loop sleep once for `span`, as a garbage collection or heavy swapping would. Returns when all of
    /// them sleep: bytes that are sent from then on wait.
    public func freeze(for span: Duration) {
        let asleep = Monitor(0)
        for loop in group.loops {
            let isRunning = loop.post {
                asleep.update { $0 += 1 }
                ServerLoop.sleep(span)
            }
            if !isRunning { asleep.update { $0 += 1 } }
        }
        _ = asleep.wait(atMost: .seconds(30)) { [count = group.loops.count] in $0 == count ? true : nil }
    }

    // MARK: Stopping

    /// Stops listening, closes idle connections, gives requests under way at most `limit` to finish, and aborts the
    /// rest. Returns when the threads have ended. Further calls have no effect.
    public func stop(within limit: Duration = .seconds(1)) {
        let isFirst = stopped.update { stopped in
            defer { stopped = stopped ?? false }
            return stopped == nil
        }
        guard isFirst else {
            _ = stopped.wait(atMost: .seconds(600)) { $0 == true ? true : nil }
            return
        }
        let emptied = emptied
        for (server, loop) in zip(loops, group.loops) {
            loop.post { server.value.drain { emptied.update { $0 += 1 } } }
        }
        _ = emptied.wait(atMost: limit) { [count = loops.count] in $0 >= count ? true : nil }
        for (server, loop) in zip(loops, group.loops) { loop.post { server.value.abort() } }
        group.shutdown()
        stopped.update { $0 = true }
    }

    deinit { stop(within: .zero) }
}
