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
