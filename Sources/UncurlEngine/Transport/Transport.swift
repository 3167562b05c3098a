internal import UncurlReactor

/// The transport of a connection: the socket, and TLS around it if there is any. It takes and returns plaintext, as
/// HTTP sees it.
struct Transport: ~Copyable {
    let socket: Socket
    /// The innermost layer; nil without TLS.
    private(set) var secure: TLSLayer?

    init(_ socket: consuming Socket) {
        self.socket = socket
        secure = nil
    }

    /// Puts TLS around what there was: from now on everything goes through `layer`.
    mutating func wrap(in layer: TLSLayer) { secure = layer }

    /// Returns how many bytes were sent, or nil if none were for lack of room. With TLS, bytes count once all their
    /// ciphertext was sent; until then the caller calls again with the same bytes.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        if let secure { return try secure.write(first, second, to: socket) }
        if second.isEmpty { return try socket.write(first) }
        return try socket.write(first, second)
    }

    /// Reads raw bytes into the loop's buffer; with TLS, ciphertext for ``TLSLayer/decrypt(_:)``.
    func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Socket.Read {
        try socket.read(into: buffer, atMost: limit)
    }

    /// Sends what TLS itself has to send: alerts, answers to key updates. What the kernel does not take waits, and
    /// ``hasUnsent`` is true.
    func flush() throws(Errno) { _ = try secure?.flush(to: socket) }

    /// Whether ciphertext waits for room in the socket.
    var hasUnsent: Bool { secure?.hasUnsent ?? false }

    /// How much plaintext has ciphertext of which a part was sent: the peer may have read it.
    var owed: Int { secure?.owed ?? 0 }

    /// Sends close_notify before a regular end: one attempt, without waiting for the peer's.
    func sayGoodbye() {
        guard let secure else { return }
        secure.close()
        try? flush()
    }
}
