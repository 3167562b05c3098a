import UncurlReactor
import UncurlTLS
import UncurlTestServer

/// A blocking TLS client on a ``RawClient``.
final class SecureRawClient {
    private let socket: RawClient
    private let session: TLSSession
    private let output = CiphertextBuffer()
    private var received: [UInt8] = []
    /// Ciphertext that came behind what was asked for.
    private var ahead: [UInt8] = []
    private(set) var sawCloseNotify = false

    /// - Parameter connect: said in plaintext first; its answer is read up to an empty line.
    init(_ port: UInt16, name: String = "localhost", trusting roots: String? = nil, connect: String? = nil) throws {
        var configuration = TLSConfiguration()
        configuration.roots = .pem(try roots ?? TestCertificates.localhost.authorityPEM)
        let context = try TLSContext(configuration)
        context.trust.load()
        socket = try RawClient(.loopback(port: port))
        if let connect {
            try socket.send(connect)
            _ = try socket.receive("HTTP/1.1 200 OK\r\n\r\n".utf8.count)
        }
        session = try TLSSession(client: context, name: ServerName(name), resumptionScope: "", output: output)
        var input: [UInt8] = []
        var offset = 0
        defer { ahead = Array(input[offset...]) }
        while true {
            do {
                defer { try? flush() }
                if case .done = try session.handshake(input.span, from: &offset) { return }
            }
            input = try socket.receiveSome()
            offset = 0
            if input.isEmpty { throw session.inputEnded() ?? .closed }
        }
    }

    func send(_ text: String) throws {
        _ = try session.write(Array(text.utf8).span)
        try flush()
    }

    func close() {
        session.close()
        try? flush()
    }

    func read(_ count: Int) throws -> [UInt8] {
        while received.count < count, try more() {}
        defer { received.removeFirst(min(count, received.count)) }
        return Array(received.prefix(count))
    }

    /// Up to close_notify, FIN or RST.
    func readToEnd() throws -> [UInt8] {
        while try more() {}
        return received
    }

    private func more() throws -> Bool {
        let input = ahead.isEmpty ? (try? socket.receiveSome()) ?? [] : ahead
        ahead = []
        guard !input.isEmpty else { return false }
        var offset = 0
        var buffer = [UInt8](repeating: 0, count: 128 * 1024)
        while true {
            let read = try buffer.withUnsafeMutableBufferPointer {
                try session.read(input.span, from: &offset, into: $0)
            }
            try flush()
            switch read {
            case .bytes(let count): received += buffer[..<count]
            case .needsInput: return true
            case .closed:
                sawCloseNotify = true
                return false
            }
        }
    }

    private func flush() throws { try socket.send(output.take()) }
}
