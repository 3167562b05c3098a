/// Header fields that identify the user, or give the sender access to something. Another origin is not sent them.
public struct SecretFields: Hashable, Sendable {
    /// Fields that RFCs define. Host names the old server, so it must not be sent to the new one.
    private static let always: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "cookie2", "www-authenticate", "proxy-authenticate", "host",
    ]

    /// Fields of no RFC, in which API gateways, clouds and well-known services take keys, tokens and sessions.
    public static let usualNames: Set<String> = [
        "X-API-Key", "API-Key", "ApiKey", "X-API-Token", "X-API-Secret", "X-Auth-Token", "X-Auth-Key", "X-Access-Token",
        "X-Authorization", "X-Session-Token", "X-Session-ID", "X-Secret-Key", "X-Client-Secret", "X-User-Token",
        "X-CSRF-Token", "X-XSRF-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Goog-Iam-Authorization-Token",
        "X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-RapidAPI-Key", "X-Vault-Token", "X-Consul-Token",
        "X-Shopify-Access-Token", "X-Figma-Token", "X-Plex-Token", "X-Honeycomb-Team", "X-MBX-APIKEY", "DD-API-KEY",
        "DD-APPLICATION-KEY", "Private-Token", "Job-Token", "Deploy-Token", "Circle-Token", "DPoP",
    ]

    /// The fields that the RFCs define, ``usualNames``, and those with a word for secrets in their names.
    public static let usual = SecretFields(usualNames)

    /// The names in lower case.
    private let names: Set<String>
    /// Whether a name on no list is judged by its words.
    private let goesByWords: Bool

    private static let usualInLowerCase = Set(usualNames.map { $0.lowercased() })

    /// A list of fields. If it has all of ``usualNames``, a field is secret by its name's words too: *token*, *secret*,
    /// *password*, *credential*, *signature*, *assertion*, *auth*, or *key* together with *api*. Any other list stands
    /// for itself.
    ///
    /// - Parameter names: the fields besides the RFCs' own, in any case.
    public init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() })
        goesByWords = self.names.isSuperset(of: SecretFields.usualInLowerCase)
    }

    /// Whether a field of that name is secret, in any case.
    public func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        return SecretFields.always.contains(name) || lists(name)
    }

    /// Whether a field of that name is secret by the list or by its words, in any case. The fields that RFCs define do
    /// not count.
    public func lists(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || goesByWords && SecretFields.findsSecretWord(name)
    }

    /// A part of a word, eight octets at most, as the octets that were read last show it: the newest is the lowest.
    private typealias Part = (octets: UInt64, mask: UInt64)

    private static func part(_ text: StaticString) -> Part {
        let octets = text.description.utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (octets, text.utf8CodeUnitCount < 8 ? 1 << (8 * UInt64(text.utf8CodeUnitCount)) - 1 : .max)
    }

    /// *Authenticate* is no such word: servers ask with it.
    private static let words = [
        part("token"), part("secret"), part("password"), part("credenti"), part("signatur"), part("assertio"),
        part("authoriz"), part("nticatio"),
    ]
    private static let (auth, key, api) = (part("auth"), part("key"), part("api"))

    /// It is asked of every field of a request that a cache may answer, so it allocates nothing.
    ///
    /// - Parameter name: in lower case.
    private static func findsSecretWord(_ name: String) -> Bool {
        var read: UInt64 = 0
        var (hasAuth, hasKey, hasAPI) = (false, false, false)
        for octet in name.utf8 {
            // Not the beginning of *author*.
            if hasAuth, octet &- UInt8(ascii: "a") >= 26 { return true }
            read = read << 8 | UInt64(octet)
            if words.contains(where: { read & $0.mask == $0.octets }) { return true }
            hasAuth = read & auth.mask == auth.octets
            hasKey = hasKey || read & key.mask == key.octets
            hasAPI = hasAPI || read & api.mask == api.octets
        }
        return hasAuth || hasKey && hasAPI
    }
}
