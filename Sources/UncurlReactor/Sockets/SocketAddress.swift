internal import CUncurlLinux

/// The address to which a stream socket connects or at which it listens: IPv4, IPv6 or a unix name.
public enum SocketAddress: Hashable, Sendable {
    /// TCP over IPv4.
    case v4(IPv4Address, port: UInt16)
    /// TCP over IPv6.
    case v6(IPv6Address, port: UInt16)
    /// A unix stream socket.
    case unix(UnixName)

    /// The kind of socket that an address is for.
    public enum Family: Hashable, Sendable {
        /// TCP over IPv4.
        case v4
        /// TCP over IPv6.
        case v6
        /// A unix stream socket.
        case unix
    }

    /// The kind of socket that this address is for.
    public var family: Family {
        switch self {
        case .v4: .v4
        case .v6: .v6
        case .unix: .unix
        }
    }

    /// Reads a numeric host in the form of a URL's authority without brackets: `127.0.0.1`, `::1`, `fe80::1%eth0`. Nil
    /// for any name: only the dotted form of four parts is read, and none of inet_aton's short forms.
    public init?(numericHost host: String, port: UInt16) {
        guard let address = IPAddress(host) else { return nil }
        self.init(address, port: port)
    }

    /// Makes an address from an IP address and a port.
    public init(_ address: IPAddress, port: UInt16) {
        switch address {
        case .v4(let address): self = .v4(address, port: port)
        case .v6(let address): self = .v6(address, port: port)
        }
    }

    /// Returns 127.0.0.1 with a port; a listener at port 0 gets a free one.
    public static func loopback(port: UInt16 = 0) -> SocketAddress { .v4(.loopback, port: port) }
    /// Returns ::1 with a port; a listener at port 0 gets a free one.
    public static func loopback6(port: UInt16 = 0) -> SocketAddress { .v6(.loopback, port: port) }

    /// The port; nil for a unix name.
    public var port: UInt16? {
        switch self {
        case .v4(_, let port), .v6(_, let port): port
        case .unix: nil
        }
    }

    /// Returns the same address with another port; a unix name, which has no port, stays as it is.
    public func withPort(_ port: UInt16) -> SocketAddress {
        switch self {
        case .v4(let address, _): .v4(address, port: port)
        case .v6(let address, _): .v6(address, port: port)
        case .unix: self
        }
    }

    /// Whether it leads back to this machine; a unix name always does.
    public var isLoopback: Bool {
        switch self {
        case .v4(let address, _): address.isLoopback
        case .v6(let address, _): address == .loopback
        case .unix: true
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:80`, `[::1]:80`, `unix:/run/x` or `unix:@abstract`.
    public var description: String {
        switch self {
        case .v4(let address, let port): "\(address):\(port)"
        case .v6(let address, let port): "[\(address)]:\(port)"
        case .unix(let name): "unix:\(name)"
        }
    }
}

// MARK: The kernel's form

extension IPAddress.Family {
    /// Nil for unix.
    init?(_ family: SocketAddress.Family) {
        switch family {
        case .v4: self = .v4
        case .v6: self = .v6
        case .unix: return nil
        }
    }
}

extension SocketAddress.Family {
    var domain: CInt {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        case .unix: AF_UNIX
        }
    }
}

extension SocketAddress {
    func withKernelForm<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .v4(let address, let port):
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = address.bits.bigEndian
            return unsafe SocketAddress.lend(&form, body)
        case .v6(let address, let port):
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            form.sin6_scope_id = address.scope
            unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: address.high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe SocketAddress.lend(&form, body)
        case .unix(let name):
            var form = sockaddr_un()
            // A UnixName is never longer than the field.
            _ = unsafe uncurl_unix_address(&form, name.bytes, name.bytes.count)
            let length = unsafe uncurl_unix_length(&form, name.bytes.count)
            return unsafe SocketAddress.lend(&form, body, length)
        }
    }

    private static func lend<Form, Result>(
        _ form: inout Form,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result,
        _ length: socklen_t = socklen_t(MemoryLayout<Form>.size)
    ) -> Result {
        unsafe withUnsafePointer(to: &form) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Reads the address that `fill` (getsockname, accept …) wrote. Nil for a family that is not supported, and for an
    /// unnamed unix peer.
    init?(filledBy fill: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Bool) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let filled = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe fill($0, &length) }
        }
        guard filled else { return nil }
        let parsed = unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe SocketAddress(kernelForm: $0, length: length)
            }
        }
        guard let parsed else { return nil }
        self = parsed
    }

    init?(kernelForm address: UnsafePointer<sockaddr>, length: socklen_t) {
        let raw = unsafe UnsafeRawBufferPointer(start: address, count: Int(length))
        switch unsafe CInt(address.pointee.sa_family) {
        case AF_INET where raw.count >= MemoryLayout<sockaddr_in>.size:
            let form = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self = .v4(
                IPv4Address(bits: UInt32(bigEndian: form.sin_addr.s_addr)),
                port: UInt16(bigEndian: form.sin_port)
            )
        case AF_INET6 where raw.count >= MemoryLayout<sockaddr_in6>.size:
            let form = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let address = unsafe withUnsafeBytes(of: form.sin6_addr) { bytes in
                unsafe IPv6Address(
                    high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    scope: form.sin6_scope_id
                )
            }
            self = .v6(address, port: UInt16(bigEndian: form.sin6_port))
        case AF_UNIX:
            let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            guard raw.count > offset else { return nil }
            var bytes = unsafe [UInt8](raw[offset...])
            if bytes.first != 0, let end = bytes.firstIndex(of: 0) { bytes.removeSubrange(end...) }
            guard let name = UnixName(bytes: bytes) else { return nil }
            self = .unix(name)
        default:
            return nil
        }
    }
}

/// The name of a unix socket: a path, or an abstract name that lives in no file system.
public struct UnixName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that fit into `sun_path` with its terminator.
    public static let maximumBytes = 107

    /// The bytes; a leading NUL marks an abstract name.
    let bytes: [UInt8]

    /// Whether it is a name in Linux's abstract namespace (unix(7)), which leaves no file behind.
    public var isAbstract: Bool { bytes.first == 0 }

    /// Nil if the path is empty, too long, or holds a NUL.
    public init?(path: String) {
        guard !path.utf8.contains(0) else { return nil }
        self.init(bytes: Array(path.utf8))
    }

    /// Makes an abstract name from `name` without the marker; nil if it is empty or too long.
    public init?(abstract name: String) {
        guard !name.isEmpty else { return nil }
        self.init(bytes: [0] + Array(name.utf8))
    }

    init?(bytes: [UInt8]) {
        guard (1...UnixName.maximumBytes).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The path, for `unlink`; nil for an abstract name, which leaves nothing behind.
    public var path: String? { isAbstract ? nil : String(decoding: bytes, as: UTF8.self) }

    /// The path, or `@name` for an abstract one (as `ss` and systemd write it).
    public var description: String {
        isAbstract ? "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }
}
