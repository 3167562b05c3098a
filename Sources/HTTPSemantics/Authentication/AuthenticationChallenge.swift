public import HTTP1

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110 §11.3): how a server, or a proxy, wants
/// the user to be identified.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// Lower case: `basic`, `digest`, `negotiate`.
    public let scheme: String
    /// What stands in place of parameters with schemes that have one blob of data.
    public let token68: String?
    /// Values by names in lower case, quotes undone.
    public let parameters: [String: String]

    /// A challenge that was read elsewhere.
    ///
    /// - Parameters:
    ///   - scheme: lower case.
    ///   - token68: what stands in the place of parameters, as for Negotiate (RFC 9110 §11.2).
    ///   - parameters: values by names in lower case, without quotes.
    public init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The protection space (RFC 9110 §11.5).
    public var realm: String? { parameters["realm"] }

    /// The challenges in all lines of the field of that name, in their order.
    ///
    /// A challenge that names a parameter twice is left out, as no two readers agree on it. Broken syntax ends its
    /// line: what comes after it could be read as anybody's parameters.
    public static func all(in fields: HTTPFields, _ name: String) -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        for line in fields.values(of: name) { result += ChallengeParser.parse(line) }
        return result
    }
}
