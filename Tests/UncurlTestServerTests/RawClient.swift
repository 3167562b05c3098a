import Glibc
import UncurlReactor
import UncurlTestServer

/// A blocking client of the tests' own: what it says and hears are exact bytes.
final class RawClient {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
    }

    let fd: Int32

    /// Connects; each read and write gives up after `limit` seconds.
    init(_ address: SocketAddress, limit: Int = 60) throws {
        switch address {
        case .v4(let ip, let port):
            fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = ip.bits.bigEndian
            try Self.connect(fd, &form, socklen_t(MemoryLayout<sockaddr_in>.size))
        case .unix(let name):
            fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let text = name.description
            let bytes = text.hasPrefix("@") ? [0] + Array(text.utf8.dropFirst()) : Array(text.utf8) + [0]
            var form = sockaddr_un()
            form.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &form.sun_path) { $0.copyBytes(from: bytes) }
            try Self.connect(fd, &form, socklen_t(2 + bytes.count))
        case .v6:
            throw Failure("no IPv6 here")
        }
        var time = timeval(tv_sec: limit, tv_usec: 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    deinit { if !closed { close(fd) } }
    private var closed = false

    private static func connect<Form>(_ fd: Int32, _ form: inout Form, _ length: socklen_t) throws {
        let result = withUnsafePointer(to: &form) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(fd, $0, length) }
        }
        if result != 0 { throw Failure("connect") }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(fd, $0.baseAddress! + offset, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { throw Failure("send") }
            offset += count
        }
    }

    /// One read: empty at the peer's FIN.
    func receiveSome(_ most: Int = 65536) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = recv(fd, &buffer, most, 0)
        if count < 0 { throw Failure("recv") }
        return Array(buffer.prefix(count))
    }

    /// Exactly `count` bytes.
    func receive(_ count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let some = try receiveSome(min(65536, count - all.count))
            if some.isEmpty { throw Failure("FIN after \(all.count) of \(count) bytes") }
            all += some
        }
        return all
    }

    func receiveText(_ count: Int) throws -> String { String(decoding: try receive(count), as: UTF8.self) }

    func receiveUntilEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let some = try receiveSome()
            if some.isEmpty { return all }
            all += some
        }
    }

    /// The bytes up to and with the next empty line.
    func receiveHead() throws -> String {
        var all: [UInt8] = []
        while !all.suffix(4).elementsEqual([13, 10, 13, 10]) { all += try receive(1) }
        return String(decoding: all, as: UTF8.self)
    }

    /// A head and the body its Content-Length announces.
    func receiveResponse(toHead: Bool = false) throws -> (head: String, body: [UInt8]) {
        let head = try receiveHead()
        let length = Self.field("content-length", in: head).flatMap { Int($0) } ?? 0
        return (head, toHead ? [] : try receive(length))
    }

    static func field(_ name: String, in head: String) -> String? {
        for line in head.split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name {
                return String(parts[1].drop { $0 == " " })
            }
        }
        return nil
    }

    func finish() { shutdown(fd, Int32(SHUT_WR)) }

    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        end()
    }

    func end() {
        if !closed { close(fd) }
        closed = true
    }
}
