import UncurlText

/// The Basic scheme (RFC 7617): name and password, readable by all that can read the connection.
public enum BasicAuthentication {
    /// Returns the value of an Authorization or Proxy-Authorization field, in UTF-8: servers that name a charset ask
    /// for it (§2.1), and most others take it.
    public static func authorization(_ credentials: Credentials) throws(AuthenticationError) -> String {
        try credentials.checkControls()
        guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        return "Basic " + Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
    }
}
