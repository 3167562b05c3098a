/// A user's name and password, for Basic and Digest authentication and for SOCKS5.
public struct Credentials: Hashable, Sendable {
    /// The user's name; it may be empty.
    public let user: String
    /// The password; it may be empty.
    public let password: String

    /// Takes any text; what a scheme cannot carry, the scheme refuses.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of either: descriptions end up in logs.
    public var description: String { "Credentials(…)" }
    /// As `description`.
    public var debugDescription: String { description }
    /// Nothing: reflection ends up in logs too.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
