public import URLLoading

/// Why a server's certificate chain was not accepted: by which rule, and in words.
public struct TrustFailure: Error, Hashable, Sendable {
    /// The rule by which the chain was refused.
    @frozen public enum Reason: Hashable, Sendable {
        /// The policy asks for a host name to be proven by certificates of which any will do.
        case contradiction
        /// The policy pins, and has nothing to compare with.
        case noPins
        /// There are rules by host, and none for this one.
        case unknownHost
        /// What is neither a host name nor an address.
        case invalidHost
        /// The server sent no certificate.
        case noCertificate
        /// `found`: what the certificate is for, as far as it is shown.
        case wrongHost(found: [String])
        /// A certificate of the chain has expired.
        case expired
        /// A certificate of the chain is not valid yet.
        case notYetValid
        /// The server signed its certificate itself, and no root covers it.
        case selfSigned
        /// The chain ends in a root, or an issuer, that is not trusted.
        case unknownAuthority
        /// The server sent its own certificate alone, and its issuer is not among the roots.
        case incompleteChain
        /// A revocation list names a certificate of the chain.
        case revoked
        /// Revocation lists were given, and they do not tell of this certificate.
        case revocationUnknown
        /// Anything else that is wrong with a chain: see ``TrustFailure/words``.
        case invalidChain
        /// No roots could be read, so no server can be trusted.
        case rootsUnavailable
        /// `leafKey`: the server's key, as a pin of it would be written.
        case noPinMatches(leafKey: String)
        /// An evaluator of the program's own refused.
        case refused
    }

    /// The host that was connected to.
    public let host: String
    /// The rule by which the chain was refused.
    public let reason: Reason
    /// What happened, without the host.
    public let words: String
    /// What the server sent, where a manager asked about it. It does not count when two failures are compared.
    public internal(set) var trust: URLServerTrust?

    /// A failure, for an evaluator of the program's own.
    public init(host: String, reason: Reason, words: String) {
        self.host = host
        self.reason = reason
        self.words = words
    }
}

extension TrustFailure {
    public static func == (left: TrustFailure, right: TrustFailure) -> Bool {
        left.host == right.host && left.reason == right.reason && left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(reason)
        hasher.combine(words)
    }
}

extension TrustFailure: CustomStringConvertible, LocalizedError {
    public var description: String { "\(host) is not trusted: \(words)" }
    public var errorDescription: String? { description }
}

extension TrustFailure {
    /// As URLSession's callers know it: `serverCertificateUntrusted` (−1202), with the host in its words, the URL that
    /// was asked for, the server's ``trust`` under `NSURLErrorFailingURLPeerTrustErrorKey`, and this failure beneath.
    public func urlError(for url: URL? = nil) -> URLError {
        var facts: [String: Any] = [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: self]
        if let trust { facts["NSURLErrorFailingURLPeerTrustErrorKey"] = trust }
        if let url {
            facts[NSURLErrorFailingURLErrorKey] = url
            // NSURLErrorFailingURLStringErrorKey, which is deprecated, and still looked for.
            facts["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        return URLError(.serverCertificateUntrusted, userInfo: facts)
    }
}
