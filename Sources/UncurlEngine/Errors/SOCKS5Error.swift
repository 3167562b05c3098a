/// The reason why a SOCKS5 handshake failed.
public enum SOCKS5Error: Error, Hashable, Sendable {
    /// A fault of the request: the host does not have 1 to 255 octets. It is not looked up instead.
    case hostLength(Int)
    /// A fault of the request: user name and password must have 1 to 255 octets each (RFC 1929 §2).
    case credentialsLength
    /// The proxy's message has another version than 5 (1 in the log-in), so it may not be SOCKS at all.
    case version(UInt8)
    /// The proxy chose a method of authentication that was not offered.
    case method(UInt8)
    /// The proxy accepts none of the offered methods: it wants credentials, and there are none.
    case noAcceptableMethod
    /// User name and password were refused (RFC 1929 §2).
    case loginRejected
    /// The proxy did not connect.
    case refused(Reply)
    /// The proxy's reply has an address of an unknown kind.
    case addressType(UInt8)

    /// The proxy's reply (RFC 1928 §6).
    public enum Reply: Hashable, Sendable {
        /// The replies 1 to 6 of RFC 1928 §6, in their order.
        case generalFailure, notAllowed, networkUnreachable, hostUnreachable, connectionRefused, timeToLiveExpired
        /// The replies 7 and 8.
        case commandNotSupported, addressTypeNotSupported
        /// A reply that RFC 1928 does not assign.
        case unassigned(UInt8)

        init(_ code: UInt8) {
            switch code {
            case 1: self = .generalFailure
            case 2: self = .notAllowed
            case 3: self = .networkUnreachable
            case 4: self = .hostUnreachable
            case 5: self = .connectionRefused
            case 6: self = .timeToLiveExpired
            case 7: self = .commandNotSupported
            case 8: self = .addressTypeNotSupported
            default: self = .unassigned(code)
            }
        }
    }
}

extension SOCKS5Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .hostLength(let count): "SOCKS5 carries hosts of 1 to 255 octets; this one has \(count)"
        case .credentialsLength: "SOCKS5 carries user names and passwords of 1 to 255 octets"
        case .version(let version): "the proxy does not speak SOCKS5 (its version octet is \(version))"
        case .method(let method): "the proxy chose authentication method \(method), which was not offered"
        case .noAcceptableMethod: "the proxy accepts none of the offered authentication methods"
        case .loginRejected: "the proxy rejected user name and password"
        case .refused(let reply): "the proxy did not connect: \(reply)"
        case .addressType(let type): "the proxy's reply has an address of unknown type \(type)"
        }
    }
}

extension SOCKS5Error.Reply: CustomStringConvertible {
    public var description: String {
        switch self {
        case .generalFailure: "general failure"
        case .notAllowed: "not allowed by its rules"
        case .networkUnreachable: "network unreachable"
        case .hostUnreachable: "host unreachable"
        case .connectionRefused: "connection refused"
        case .timeToLiveExpired: "time to live expired"
        case .commandNotSupported: "command not supported"
        case .addressTypeNotSupported: "address type not supported"
        case .unassigned(let code): "unassigned reply \(code)"
        }
    }
}
