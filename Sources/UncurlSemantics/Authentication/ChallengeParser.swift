internal import UncurlHTTP1

/// Reads one line of challenges:
///
///     WWW-Authenticate = #challenge                                       RFC 9110 §11.6.1
///     challenge        = auth-scheme [ 1*SP ( token68 / #auth-param ) ]   §11.3
///     auth-param       = token BWS "=" BWS ( token / quoted-string )      §11.2
///
/// Commas separate both challenges and parameters: a token is a parameter's name if an equals sign and a value follow,
/// and begins a challenge otherwise.
struct ChallengeParser {
    /// Schemes registered with IANA have up to a dozen parameters; a longer list is no challenge that can be answered.
    private static let maximumParameters = 32

    private let bytes: [UInt8]
    private var position = 0

    static func parse(_ line: String) -> [AuthenticationChallenge] { parse(line.utf8) }

    static func parse(_ line: some Sequence<UInt8>) -> [AuthenticationChallenge] {
        var parser = ChallengeParser(bytes: Array(line))
        return parser.challenges()
    }

    private mutating func challenges() -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        while true {
            skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            guard position < bytes.count else { return result }
            guard let scheme = token() else { return result }
            var challenge = Pending(scheme: scheme.lowercased())
            let isWhole = finish(&challenge)
            if isWhole, !challenge.isAmbiguous { result.append(challenge.value) }
            guard isWhole else { return result }
        }
    }

    private struct Pending {
        let scheme: String
        var token68: String?
        var parameters: [String: String] = [:]
        var unreadable: [String: [UInt8]] = [:]
        var isAmbiguous = false

        var value: AuthenticationChallenge {
            AuthenticationChallenge(scheme: scheme, token68: token68, parameters: parameters, unreadable: unreadable)
        }

        /// - Returns: whether there was a value of that name.
        mutating func take(_ value: ArraySlice<UInt8>, for name: String) -> Bool {
            let text = String(decoding: value, as: UTF8.self)
            if !text.utf8.elementsEqual(value) { unreadable[name] = Array(value) }
            return parameters.updateValue(text, forKey: name) != nil
        }
    }

    /// Reads what follows a scheme, up to the next one. Returns false if that is no challenge.
    private mutating func finish(_ challenge: inout Pending) -> Bool {
        let end = position
        skip(Self.isBlank)
        if position == bytes.count || bytes[position] == UInt8(ascii: ",") {
            return parameters(of: &challenge)
        }
        // Only blanks separate a scheme from what belongs to it.
        guard position > end else { return false }
        if let token = token68() {
            challenge.token68 = token
            return true
        }
        return parameters(of: &challenge)
    }

    private mutating func parameters(of challenge: inout Pending) -> Bool {
        while true {
            skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            let start = position
            guard let name = token() else { return position == bytes.count }
            skip(Self.isBlank)
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                // This is no parameter, so it is the next scheme, which needs a comma before it.
                position = start
                return isBehindComma(start)
            }
            position += 1
            skip(Self.isBlank)
            guard let value = value(), atEndOfElement() else { return false }
            let isRepeated = challenge.take(value, for: name.lowercased())
            if isRepeated || challenge.parameters.count > Self.maximumParameters { challenge.isAmbiguous = true }
        }
    }

    private func isBehindComma(_ start: Int) -> Bool {
        bytes[..<start].last { !Self.isBlank($0) } == UInt8(ascii: ",")
    }

    private mutating func atEndOfElement() -> Bool {
        skip(Self.isBlank)
        return position == bytes.count || bytes[position] == UInt8(ascii: ",")
    }

    /// RFC 9110 §11.2: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=". Takes nothing unless all of it
    /// stands before the next comma.
    private mutating func token68() -> String? {
        let start = position
        skip { Self.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        guard position > start else { return nil }
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        guard atEndOfElement() else {
            position = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private mutating func value() -> ArraySlice<UInt8>? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return tokenOctets() }
        position += 1
        var unquoted: [UInt8] = []
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return unquoted[...] }
            if byte == UInt8(ascii: "\\") {
                guard position < bytes.count else { return nil }
                byte = bytes[position]
                position += 1
            }
            unquoted.append(byte)
        }
        return nil
    }

    /// RFC 9110 §5.6.2.
    private mutating func token() -> String? { tokenOctets().map { String(decoding: $0, as: UTF8.self) } }

    private mutating func tokenOctets() -> ArraySlice<UInt8>? {
        let start = position
        skip { $0.isTokenOctet }
        return position > start ? bytes[start..<position] : nil
    }

    private mutating func skip(_ belongs: (UInt8) -> Bool) {
        while position < bytes.count, belongs(bytes[position]) { position += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
