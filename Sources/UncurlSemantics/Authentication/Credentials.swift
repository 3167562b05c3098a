import UncurlText

/// A user name and a password, for Basic and Digest authentication and for SOCKS5.
public struct Credentials: Hashable, Sendable {
    /// The user name; it may be empty.
    public let user: String
    /// The password; it may be empty.
    public let password: String

    /// Makes credentials of any text; a scheme refuses what it cannot carry.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Neither name nor password: descriptions end up in logs.
    public var description: String { "Credentials(…)" }
    /// As `description`.
    public var debugDescription: String { description }
    /// No children: reflection ends up in logs too.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why no credentials could be written for a challenge.
public enum AuthenticationError: Error, Hashable, Sendable {
    /// The user name or the password holds a control character (RFC 7617 §2, RFC 7616 §3.4).
    case controlCharacter
    /// The user name holds a colon, at which Basic would end it (RFC 7617 §2).
    case colonInUser
    /// The challenge protects the content too (`qop=auth-int`), which is not in memory.
    case contentNeeded
    /// The system's OpenSSL refuses the hash function (MD5 under FIPS).
    case hashUnavailable
}

extension AuthenticationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .controlCharacter: "user name or password hold a control character"
        case .colonInUser: "a user name for Basic authentication cannot hold a colon"
        case .contentNeeded: "the challenge wants the content hashed, which is not in memory"
        case .hashUnavailable: "the system's OpenSSL refuses the hash function of the challenge"
        }
    }
}

extension Credentials {
    /// Throws for control characters: RFC 7617 §2 forbids them, and a line end would begin a second field.
    func checkControls() throws(AuthenticationError) {
        let isControl: (UInt8) -> Bool = { $0 < 0x20 || $0 == 0x7F }
        guard !user.utf8.contains(where: isControl), !password.utf8.contains(where: isControl) else {
            throw .controlCharacter
        }
    }
}

extension Credentials {
    /// Returns the value of an Authorization or Proxy-Authorization field by the Basic scheme (RFC 7617): name and
    /// password, readable by all that can read the connection. They are in UTF-8: servers that name a charset ask for
    /// it (§2.1), and most others take it.
    public func basicAuthorization() throws(AuthenticationError) -> String {
        try checkControls()
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        return "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    }
}
