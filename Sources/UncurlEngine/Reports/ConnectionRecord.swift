public import UncurlReactor
public import UncurlTLS

/// When the TLS handshake with the origin began and ended.
public struct HandshakeTimings: Hashable, Sendable {
    /// When the first message was sent.
    @CompactInstant public internal(set) var start: Instant?
    /// When both sides had agreed.
    @CompactInstant public internal(set) var end: Instant?
}

/// The facts of a connection, which all its exchanges share.
public final class ConnectionRecord: Sendable {
    /// The address that was reached, and when each part of the dial began and ended.
    public let timings: ConnectTimings
    /// The local address; nil unless ``EngineConfiguration/recordsLocalAddress``.
    public let localAddress: SocketAddress?
    /// Nil if there is only TCP: otherwise each of fifteen thousand connections would hold 144 empty bytes.
    private let layers: Layers?

    private final class Layers: Sendable {
        let handshake: HandshakeTimings
        let security: TLSInfo?
        let proxy: Proxy?

        init(_ handshake: HandshakeTimings, _ security: TLSInfo?, _ proxy: Proxy?) {
            self.handshake = handshake
            self.security = security
            self.proxy = proxy
        }
    }

    init(
        _ timings: ConnectTimings,
        _ handshake: HandshakeTimings,
        _ security: TLSInfo?,
        _ proxy: Proxy?,
        _ local: SocketAddress?
    ) {
        self.timings = timings
        localAddress = local
        layers = security == nil && proxy == nil ? nil : Layers(handshake, security, proxy)
    }

    /// The address that the socket is connected to.
    public var address: SocketAddress { timings.address }

    /// The times of the TLS handshake; empty for plain connections.
    public var handshake: HandshakeTimings { layers?.handshake ?? HandshakeTimings() }
    /// What TLS has agreed on; nil for plain connections.
    public var security: TLSInfo? { layers?.security }
    /// The proxy through which the origin was reached; `timings` and `address` are then the proxy's.
    public var proxy: Proxy? { layers?.proxy }
}
