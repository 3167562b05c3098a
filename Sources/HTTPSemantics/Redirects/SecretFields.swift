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
        "DD-APPLICATION-KEY", "Private-Token", "Job-Token", "Deploy-Token", "Circle-Token",
    ]

    /// The fields that the RFCs define, and ``usualNames``.
    public static let usual = SecretFields(usualNames)

    /// The names in lower case.
    private let names: Set<String>

    /// - Parameter names: the fields besides the RFCs' own, in any case.
    public init(_ names: Set<String>) { self.names = Set(names.map { $0.lowercased() }) }

    /// Whether a field of that name is secret, in any case.
    public func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        return SecretFields.always.contains(name) || names.contains(name)
    }
}
