import Glibc
import UncurlTLS

/// A TLS session on a blocking socket of this machine; every read gives up after ten seconds.
final class BlockingClient {
    struct Failure: Error { let what: String }

    let session: TLSSession
    private let output = CiphertextBuffer()
    private let socket: Int32
    private var input: [UInt8] = []
    private var offset = 0

    init(_ context: TLSContext, port: UInt16, name: String = "localhost") throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        session = try TLSSession(client: context, name: ServerName(name), resumptionScope: "\(port)", output: output)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(what: "connect") }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { Glibc.close(socket) }

    func handshake() throws {
        while true {
            do {
                defer { flush() }
                if case .done = try session.handshake(input.span, from: &offset) { return }
            }
            try receive()
        }
    }

    func write(_ text: String) throws {
        _ = try session.write(Array(text.utf8).span)
        flush()
    }

    /// One read's worth; nil at close_notify.
    func read() throws -> String? {
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        while true {
            switch try decrypt(&buffer) {
            case .bytes(let count): return String(decoding: buffer[..<count], as: UTF8.self)
            case .closed: return nil
            case .needsInput: try receive()
            }
        }
    }

    private func decrypt(_ buffer: inout [UInt8]) throws -> TLSSession.Read {
        defer { flush() }
        let input = input
        return try buffer.withUnsafeMutableBufferPointer { try session.read(input.span, from: &offset, into: $0) }
    }

    func read(until end: String) throws -> String {
        var text = ""
        while !text.contains(end) {
            guard let more = try read() else { throw Failure(what: "closed after \(text)") }
            text += more
        }
        return text
    }

    func close() {
        session.close()
        flush()
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Failure(what: String(cString: strerror(errno))) }
        if count == 0, let error = session.inputEnded() { throw error }
        input = Array(buffer[..<count])
        offset = 0
    }

    private func flush() {
        let bytes = output.take()
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
