internal import UncurlLibC
internal import UncurlReactor

/// The part of a ``TestServer`` on one loop: its listener, its connections and its sweep.
final class ServerLoop: TimerHandler, AlarmHandler {
    let loop: EventLoop
    let shared: ServerScratch
    private let allLoops: [EventLoop]
    private var listener: Listener?
    private var connections: [ServerConnection] = []
    private var sweepTimer: TimerID?
    /// Connections whose response waits. The heap is more precise than the wheel's ticks, so that a client measures the
    /// requested delay.
    private var resting = DeadlineHeap<(connection: ServerConnection, number: UInt64)>()
    /// Called when the server is draining and its last connection has ended.
    private var whenEmpty: (() -> Void)?

    init(_ loop: EventLoop, _ shared: ServerScratch, all loops: [EventLoop]) {
        self.loop = loop
        self.shared = shared
        allLoops = loops
    }

    /// The bound address. `accept` may pass a new connection to another loop.
    func listen(
        _ address: SocketAddress,
        sharing: Bool,
        accept: @escaping (consuming Socket) -> Void
    ) throws(Errno) -> SocketAddress {
        let listener = try Listener(
            on: loop,
            at: address,
            backlog: shared.options.backlog,
            sharing: sharing,
            accept: accept
        )
        self.listener = listener
        return listener.address
    }

    func take(_ socket: consuming Socket) {
        shared.counters.connections.add(1)
        socket.disableNagle()
        let connection = ServerConnection(socket, self)
        guard connection.open() else { return }
        connection.index = connections.count
        connections.append(connection)
        if sweepTimer == nil { armSweep() }
    }

    func forget(_ connection: ServerConnection) {
        let index = connection.index
        guard index < connections.count, connections[index] === connection else { return }
        connections.swapAt(index, connections.count - 1)
        connections[index].index = index
        connections.removeLast()
        tellIfEmpty()
    }

    // MARK: Stopping

    func drain(whenEmpty: @escaping () -> Void) {
        shared.isDraining = true
        self.whenEmpty = whenEmpty
        listener?.close()
        listener = nil
        for connection in Array(connections) { connection.drain() }
        tellIfEmpty()
    }

    func abort() {
        listener?.close()
        listener = nil
        for connection in Array(connections) { connection.abort() }
    }

    private func tellIfEmpty() {
        guard connections.isEmpty, let tell = whenEmpty else { return }
        whenEmpty = nil
        tell()
    }

    // MARK: Time

    /// Every loop of the server sleeps once: the others when they handle this message, this one now.
    func freeze(_ span: Duration) {
        for other in allLoops where other !== loop { other.post { ServerLoop.sleep(span) } }
        ServerLoop.sleep(span)
        loop.stamp()
    }

    static func sleep(_ span: Duration) {
        let nanoseconds = max(0, span.wholeNanoseconds)
        var left = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&left, &rest) == -1 { left = rest }
    }

    func rest(_ connection: ServerConnection, _ number: UInt64, until time: Instant) {
        resting.push((connection, number), at: time)
        loop.setAlarm(at: resting.earliest, self)
    }

    func alarmRang() {
        while let (connection, number) = resting.pop(by: loop.now) { connection.rested(number) }
        loop.setAlarm(at: resting.earliest, self)
    }

    func timerFired(_ id: TimerID) {
        sweepTimer = nil
        let limit = loop.now.advanced(byNanoseconds: -shared.options.idleTimeout.wholeNanoseconds)
        for connection in Array(connections) { connection.sweep(idleSince: limit) }
        if !connections.isEmpty { armSweep() }
    }

    /// A quarter of the idle time is exact enough. A sweep over 15,000 connections takes 0.1 ms.
    private func armSweep() {
        let quarter = shared.options.idleTimeout.wholeNanoseconds / 4
        let interval = min(max(quarter, 10_000_000), 5_000_000_000)
        sweepTimer = loop.arm(at: loop.now.advanced(byNanoseconds: interval), self)
    }
}
