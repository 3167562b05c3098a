public import URLLoading

/// Why a server's certificate chain was not accepted: by which rule, and in words.
public struct TrustFailure: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// The policy asks for a host name to be proven by certificates of which any will do.
        case contradiction
        /// The policy pins, and has nothing to compare with.
        case noPins
        /// There are rules by host, and none for this one.
        case unknownHost
        /// What is neither a host name nor an address.
        case invalidHost
        case noCertificate
        /// `found`: what the certificate is for, as far as it is shown.
        case wrongHost(found: [String])
        case expired
        case notYetValid
        /// The server made its certificate itself, and nobody vouches for it.
        case selfSigned
        /// The chain ends in a root, or an issuer, that is not trusted.
        case unknownAuthority
        /// The server sent its own certificate alone, and its issuer is not among the roots.
        case incompleteChain
        case revoked
        /// Revocation lists were given, and they do not tell of this certificate.
        case revocationUnknown
        /// Anything else that is wrong with a chain: see ``TrustFailure/words``.
        case invalidChain
        /// No roots could be read, so nobody can be trusted.
        case rootsUnavailable
        /// `leafKey`: the server's key, as a pin of it would be written.
        case noPinMatches(leafKey: String)
        /// An evaluator of the program's own refused.
        case refused
    }

    public let host: String
    public let reason: Reason
    /// What happened, without the host.
    public let words: String

    public init(host: String, reason: Reason, words: String) {
        self.host = host
        self.reason = reason
        self.words = words
    }
}

extension TrustFailure: CustomStringConvertible, LocalizedError {
    public var description: String { "\(host) is not trusted: \(words)" }
    public var errorDescription: String? { description }
}

extension TrustFailure {
    /// As URLSession's callers know it: `serverCertificateUntrusted` (−1202), with the host in its words, the URL that
    /// was asked for and this failure beneath.
    public func urlError(for url: URL? = nil) -> URLError {
        var facts: [String: Any] = [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self]
        if let url {
            facts[NSURLErrorFailingURLErrorKey] = url
            // NSURLErrorFailingURLStringErrorKey, which is deprecated, and still looked for.
            facts["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        return URLError(.serverCertificateUntrusted, userInfo: facts)
    }
}
