/// Which servers are who they say they are.
public struct SecurityPolicy: Sendable {
    public init() {}
}

/// Why a server's certificate chain was not accepted.
public struct TrustFailure: Error, Sendable {
    public let host: String
    public let reason: String
}
