internal import Reactor

/// One attempt to open a connection for a host's pool: owned by the pool, not by the exchange that caused it.
final class Dial: ConnectorDelegate, TimerHandler {
    /// Whom the connection is for: the first waiter, or an exchange that had its turn and retries.
    enum Purpose { case pool, retry(ExchangeID) }

    let engine: Engine
    let host: Host
    let purpose: Purpose
    private var connector: Connector?
    private var timer: TimerID?

    init(engine: Engine, host: Host, purpose: Purpose) {
        self.engine = engine
        self.host = host
        self.purpose = purpose
    }

    func start(timeout: Duration?) {
        let connector = Connector(
            on: engine.loop,
            resolver: engine.resolver,
            to: target,
            options: engine.connectorOptions(to: target, for: host),
            delegate: self
        )
        self.connector = connector
        if let timeout { timer = engine.loop.arm(at: engine.loop.now.advanced(by: timeout), self) }
        connector.start()
    }

    func cancel() {
        stopTimer()
        connector?.cancel()
        connector = nil
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        cancel()
        engine.dialFailed(self, .timedOut(.connect))
    }

    func connector(_ connector: Connector, didConnect socket: consuming Socket, token: Token, timings: ConnectTimings) {
        stopTimer()
        self.connector = nil
        engine.dialled(self, socket, token, timings)
    }

    func connector(_ connector: Connector, didFail error: ConnectError) {
        stopTimer()
        self.connector = nil
        engine.dialFailed(self, .connect(error))
    }

    private func stopTimer() {
        if let timer { engine.loop.cancel(timer) }
        timer = nil
    }

    private var target: Connector.Target {
        switch host.destination.endpoint {
        case .origin: .host(host.destination.origin.host, port: host.destination.origin.port)
        case .address(let address): .addresses([address])
        case .host(let name, let port): .host(name, port: port)
        }
    }
}

extension Connector.Target {
    /// Known for addresses, and for a host that is one.
    var family: SocketAddress.Family? {
        switch self {
        case .addresses(let addresses): addresses.first?.family
        case .host(let host, let port): SocketAddress(numericHost: host, port: port)?.family
        }
    }
}
