public import UncurlHTTP1

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110 §11.3): how a server or a proxy wants the
/// user to be identified.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The scheme in lower case: `basic`, `digest`, `negotiate`.
    public let scheme: String
    /// The data that replaces parameters in some schemes.
    public internal(set) var token68: String?
    /// Values by names in lower case, without quotes.
    public private(set) var parameters: [String: String]
    /// The octets of those values that are no UTF-8 (RFC 9110 §5.5), and are repaired in ``parameters``.
    private var unreadable: [String: [UInt8]] = [:]

    /// Makes a challenge that was read elsewhere.
    ///
    /// - Parameters:
    ///   - scheme: in lower case.
    ///   - token68: the data that replaces parameters, as for Negotiate (RFC 9110 §11.2).
    ///   - parameters: values by names in lower case, without quotes.
    public init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// Takes a parameter's value.
    ///
    /// - Returns: whether there was a value of that name.
    mutating func take(_ value: [UInt8], for name: String) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        if !text.utf8.elementsEqual(value) { unreadable[name] = value }
        return parameters.updateValue(text, forKey: name) != nil
    }

    /// Compares octets: a server chooses the values, and texts with many combining marks take long to compare.
    public static func == (left: AuthenticationChallenge, right: AuthenticationChallenge) -> Bool {
        left.scheme == right.scheme && left.comparable == right.comparable
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(comparable)
    }

    /// The octets of all values; the token's name is empty, which no parameter's is.
    private var comparable: [String: [UInt8]] {
        var values = parameters.mapValues { Array($0.utf8) }
        values.merge(unreadable) { $1 }
        values[""] = token68.map { Array($0.utf8) }
        return values
    }

    /// Returns a parameter's value in the octets in which it came.
    func octets(of name: String) -> [UInt8]? { unreadable[name] ?? parameters[name].map { Array($0.utf8) } }

    /// The protection space (RFC 9110 §11.5).
    public var realm: String? { parameters["realm"] }

    /// Whether the server says that it reads names and passwords in UTF-8. Then they are sent in Normalization Form C
    /// (RFC 7617 §2.1, RFC 7616 §4), which the caller makes.
    package var isUTF8: Bool { parameters["charset"]?.ascii?.lowercased() == "utf-8" }

    /// Returns the challenges in all lines of the field of that name, in their order.
    ///
    /// A challenge that names a parameter twice is left out, since readers disagree on it. A syntax error ends its
    /// line: what follows could be read as parameters of another challenge.
    public static func all(in fields: HTTPFields, _ name: String) -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        for line in fields.octets(of: name) { result += ChallengeParser.parse(line) }
        return result
    }
}
