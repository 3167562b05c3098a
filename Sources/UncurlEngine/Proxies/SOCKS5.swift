internal import UncurlReactor
internal import UncurlSemantics
import UncurlText

/// The client's side of a SOCKS5 handshake (RFC 1928, RFC 1929), without a socket.
///
/// ```
///   greeting ──method 0──────────────▶ reply ──0──▶ open
///       └─────method 2──▶ login ──0──────┘
/// ```
/// Send ``greeting``, then give `receive` what arrives, in pieces of any size. Bytes after the reply belong to the
/// tunnel and are left in the input.
struct SOCKS5 {
    private enum State { case method, login, reply, open }

    private static let version: UInt8 = 5
    /// RFC 1929 §2: the subnegotiation has a version of its own.
    private static let loginVersion: UInt8 = 1

    private var state = State.method
    /// The message that is coming in; at most 262 octets, since its length fields have one octet.
    private var message: [UInt8] = []
    private let request: [UInt8]
    private let login: [UInt8]?

    /// Throws for values that the protocol has no room for. In particular, a name that is too long is never looked up
    /// here instead (CVE-2023-38545).
    ///
    /// - Parameter host: an address, or a name, which the proxy looks up.
    init(to host: String, port: UInt16, credentials: Credentials?) throws(SOCKS5Error) {
        var request = try [SOCKS5.version, 1, 0] + SOCKS5.target(host)
        request.append(bigEndian: port)
        self.request = request
        login = if let credentials { try SOCKS5.login(credentials) } else { nil }
    }

    /// The offered methods (§3), always with "no authentication", since a proxy may know a client by its address.
    var greeting: [UInt8] { login == nil ? [SOCKS5.version, 1, 0] : [SOCKS5.version, 2, 0, 2] }

    /// Whether the tunnel is open: what follows belongs to it.
    var isOpen: Bool { state == .open }

    /// Reads on from `offset`, which is moved past what was taken. Returns a message to send, after which it is called
    /// again; nil once the tunnel is open, and if more must come.
    mutating func receive(_ input: Span<UInt8>, from offset: inout Int) throws(SOCKS5Error) -> [UInt8]? {
        while offset < input.count, !isOpen {
            message.append(input[offset])
            offset += 1
            switch state {
            case .method: if let answer = try method() { return answer }
            case .login: if let answer = try loginStatus() { return answer }
            case .reply: try reply()
            case .open: break
            }
        }
        return nil
    }

    /// Reads VER METHOD (§3).
    private mutating func method() throws(SOCKS5Error) -> [UInt8]? {
        guard message[0] == SOCKS5.version else { throw .version(message[0]) }
        guard message.count == 2 else { return nil }
        let method = message[1]
        message = []
        switch method {
        case 0:
            state = .reply
            return request
        case 2:
            guard let login else { throw .method(2) }
            state = .login
            return login
        case 0xFF:
            throw .noAcceptableMethod
        default:
            throw .method(method)
        }
    }

    /// Reads VER STATUS (RFC 1929 §2).
    private mutating func loginStatus() throws(SOCKS5Error) -> [UInt8]? {
        guard message[0] == SOCKS5.loginVersion else { throw .version(message[0]) }
        guard message.count == 2 else { return nil }
        guard message[1] == 0 else { throw .loginRejected }
        message = []
        state = .reply
        return request
    }

    /// Reads VER REP RSV ATYP BND.ADDR BND.PORT (§6). A refusal shows in the second octet; many proxies send no more of
    /// it.
    private mutating func reply() throws(SOCKS5Error) {
        guard message[0] == SOCKS5.version else { throw .version(message[0]) }
        guard message.count >= 2 else { return }
        guard message[1] == 0 else { throw .refused(reply: message[1]) }
        guard message.count >= 4 else { return }
        let addressSize: Int
        switch message[3] {
        case 1: addressSize = 4
        case 4: addressSize = 16
        case 3:
            guard message.count >= 5 else { return }
            addressSize = 1 + Int(message[4])
        default: throw .addressType(message[3])
        }
        guard message.count == 4 + addressSize + 2 else { return }
        message = []
        state = .open
    }

    /// Returns ATYP DST.ADDR of the request (§4), whose command is CONNECT.
    private static func target(_ host: String) throws(SOCKS5Error) -> [UInt8] {
        var octets: [UInt8] = []
        switch IPAddress(host) {
        case .v4(let address):
            octets.append(bigEndian: address.bits)
            return [1] + octets
        // The scope is an interface of this machine, which means nothing to the proxy.
        case .v6(let address):
            octets.append(bigEndian: address.high)
            octets.append(bigEndian: address.low)
            return [4] + octets
        case nil:
            guard let count = UInt8(exactly: host.utf8.count), count > 0 else { throw .hostLength(host.utf8.count) }
            return [3, count] + host.utf8
        }
    }

    /// Returns VER ULEN UNAME PLEN PASSWD (RFC 1929 §2).
    private static func login(_ credentials: Credentials) throws(SOCKS5Error) -> [UInt8] {
        guard let user = UInt8(exactly: credentials.user.utf8.count), user > 0,
            let password = UInt8(exactly: credentials.password.utf8.count), password > 0
        else { throw .credentialsLength }
        return [loginVersion, user] + credentials.user.utf8 + [password] + credentials.password.utf8
    }
}
