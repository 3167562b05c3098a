import TextCoding

/// The Basic scheme (RFC 7617): name and password, readable for everything that reads the connection.
public enum BasicAuthentication {
    /// The value of an Authorization or Proxy-Authorization field. UTF-8, which is what servers that name a charset ask
    /// for (§2.1) and most others take.
    public static func authorization(_ credentials: Credentials) throws(AuthenticationError) -> String {
        try credentials.checkControls()
        guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        return "Basic " + Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
    }
}
