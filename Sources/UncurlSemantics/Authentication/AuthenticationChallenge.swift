public import UncurlHTTP1
internal import UncurlText

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
        for line in fields.octets(of: name) { result += all(inLine: line) }
        return result
    }

    static func all(inLine line: some Sequence<UInt8>) -> [AuthenticationChallenge] {
        var reader = FieldReader(line)
        return reader.challenges()
    }
}

/// Reads one line of challenges:
///
///     WWW-Authenticate = #challenge                                       RFC 9110 §11.6.1
///     challenge        = auth-scheme [ 1*SP ( token68 / #auth-param ) ]   §11.3
///     auth-param       = token BWS "=" BWS ( token / quoted-string )      §11.2
///
/// Commas separate both challenges and parameters: a token is a parameter's name if an equals sign and a value follow,
/// and begins a challenge otherwise.
extension FieldReader {
    /// Schemes registered with IANA have up to a dozen parameters; a longer list is no challenge that can be answered.
    private static var maximumParameters: Int { 32 }

    fileprivate mutating func challenges() -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        while true {
            skipSeparators()
            guard let scheme = token() else { return result }
            var challenge = AuthenticationChallenge(scheme: Self.text(scheme).lowercased())
            var isAmbiguous = false
            guard finish(&challenge, &isAmbiguous) else { return result }
            if !isAmbiguous { result.append(challenge) }
        }
    }

    /// Reads what follows a scheme, up to the next one. Returns false if that is no challenge.
    private mutating func finish(_ challenge: inout AuthenticationChallenge, _ isAmbiguous: inout Bool) -> Bool {
        let end = position
        if atEndOfElement() { return parameters(of: &challenge, &isAmbiguous) }
        // Only blanks separate a scheme from what belongs to it.
        guard position > end else { return false }
        if let token = token68() {
            challenge.token68 = token
            return true
        }
        return parameters(of: &challenge, &isAmbiguous)
    }

    private mutating func parameters(of challenge: inout AuthenticationChallenge, _ isAmbiguous: inout Bool) -> Bool {
        while true {
            skipSeparators()
            let start = position
            guard let name = token() else { return isAtEnd }
            skipBlanks()
            guard take(UInt8(ascii: "=")) else {
                // This is no parameter, so it is the next scheme, which needs a comma before it.
                position = start
                return isBehindComma(start)
            }
            skipBlanks()
            guard let value = challengeValue(), atEndOfElement() else { return false }
            let isRepeated = challenge.take(value, for: Self.text(name).lowercased())
            if isRepeated || challenge.parameters.count > Self.maximumParameters { isAmbiguous = true }
        }
    }

    private mutating func skipSeparators() { take { $0 == UInt8(ascii: ",") || $0.isBlankOctet } }

    private func isBehindComma(_ start: Int) -> Bool {
        octets[..<start].last { !$0.isBlankOctet } == UInt8(ascii: ",")
    }

    private mutating func atEndOfElement() -> Bool {
        skipBlanks()
        return isAtEnd || next == UInt8(ascii: ",")
    }

    /// RFC 9110 §11.2: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=". Takes nothing unless all of it
    /// stands before the next comma.
    private mutating func token68() -> String? {
        let start = position
        guard !take(while: { $0.isASCIIAlphanumeric || "-._~+/".utf8.contains($0) }).isEmpty else { return nil }
        take { $0 == UInt8(ascii: "=") }
        let end = position
        guard atEndOfElement() else {
            position = start
            return nil
        }
        return Self.text(octets[start..<end])
    }

    private mutating func challengeValue() -> [UInt8]? {
        guard next == UInt8(ascii: "\"") else { return token().map { Array($0) } }
        return quotedString().flatMap { $0.isWhole ? $0.text : nil }
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }
}
