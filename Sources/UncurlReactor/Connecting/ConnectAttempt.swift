/// The connecting of one socket to one address.
final class ConnectAttempt: ReadinessHandler {
    let address: SocketAddress
    private let loop: EventLoop
    private let isDone: (ConnectAttempt) -> Void
    private var socket: Socket?
    private var token: Token?

    /// Begins to connect. `isDone` is called in a later turn, once ``outcome()`` may be called. That is also so for a
    /// connection that was open at once, so that no delegate is called within its own call.
    init(
        on loop: EventLoop,
        to address: SocketAddress,
        _ options: Connector.Options,
        isDone: @escaping (ConnectAttempt) -> Void
    ) throws(Errno) {
        self.loop = loop
        self.address = address
        self.isDone = isDone
        let socket = try Socket(address.family)
        if address.family != .unix {
            if options.noDelay { socket.disableNagle() }
            if options.keepAlive { socket.enableKeepAlive() }
        }
        if let local = options.localAddress { try socket.bindLocal(local) }
        _ = try socket.connect(to: address)
        token = try loop.register(socket.number, .write, self)
        self.socket = consume socket
    }

    func ready(_ readiness: Readiness) { isDone(self) }

    /// Returns the connection, registered for what the peer may send; or throws the error, with the socket closed.
    func outcome() throws(Errno) -> Connected {
        do throws(Errno) {
            try socket?.finishConnect(to: address)
            if let token { try loop.setInterest(token, [.read, .peerFinish]) }
        } catch {
            close()
            throw error
        }
        guard let token = token.take(), let socket = socket.take() else { throw .notConnected }
        return Connected(socket: socket, token: token)
    }

    func close() {
        if let token = token.take() { loop.deregister(token) }
        socket = nil
    }
}

/// A new connection and its registration.
struct Connected: ~Copyable {
    let socket: Socket
    let token: Token

    consuming func intoSocket() -> Socket { socket }
}
