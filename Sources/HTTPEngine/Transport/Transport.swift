internal import Reactor

/// A connection's way to its peer: the socket, and TLS around it if there is any. What goes in and comes out is what
/// HTTP sees.
struct Transport: ~Copyable {
    let socket: Socket
    /// The innermost layer; nil in the clear.
    private(set) var secure: TLSLayer?

    init(_ socket: consuming Socket) {
        self.socket = socket
        secure = nil
    }

    /// What was agreed on inside of what there was: from now on everything goes through `layer`.
    mutating func wrap(in layer: TLSLayer) { secure = layer }

    /// Returns how many bytes have left this machine's hands, or nil if none did for lack of room. With TLS, bytes
    /// count once all their ciphertext has left; until then the caller comes back with the same.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        if let secure { return try secure.write(first, second, to: socket) }
        if second.isEmpty { return try socket.write(first) }
        return try socket.write(first, second)
    }

    /// Raw bytes into the loop's buffer; with TLS, ciphertext for ``TLSLayer/decrypt(_:)``.
    func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Socket.Read {
        try socket.read(into: buffer, atMost: limit)
    }

    /// Sends what TLS has to say by itself: alerts, answers to key updates. What the kernel does not take waits, and
    /// ``hasUnsent`` says so.
    func flush() throws(Errno) { _ = try secure?.flush(to: socket) }

    /// Ciphertext waits for room in the socket.
    var hasUnsent: Bool { secure?.hasUnsent ?? false }

    /// Plaintext whose ciphertext has left in part: the peer may have read it.
    var owed: Int { secure?.owed ?? 0 }

    /// A last word before a regular end: one attempt, and no wait for the peer's.
    func sayGoodbye() {
        guard let secure else { return }
        secure.close()
        try? flush()
    }
}
