internal import UncurlHTTP1
package import UncurlTLS

extension AnswerMachine {
    /// Whether the next request carries credentials that the user has given. Cheaper than ``challenges``.
    public var hasAuthorizer: Bool { challenges.hasAuthorizer }

    /// Whether one more redirect may be followed.
    public var mayRedirect: Bool { redirects < rules.redirects }

    /// The hash function for content that is not in memory, needed before the next
    /// ``authorization(method:target:content:)``; nil if no hash is needed.
    package var contentDigest: MessageDigest? {
        guard let authorizer = challenges.authorizer, authorizer.side == .origin else { return nil }
        return authorizer.contentDigest
    }

    /// The owner's rules for each request.
    public struct Rules: Sendable {
        /// The fields that another origin is not sent, and that identify the user of a stored response.
        public var secrets: SecretFields
        /// Whether a stored response without a stated lifetime may be served by a guessed one (RFC 9111 §4.2.2).
        public var usesHeuristicFreshness: Bool
        /// Whether a request without a way to its server waits for one.
        public var waitsForConnectivity: Bool
        /// Whether a request that the network has failed is tried again, for as long as its owner lets it.
        public var triesAgain: Bool
        /// How many redirects in a row are followed.
        public var redirects: Int
        /// Reads a redirect's target as the owner's own URL type does; nil for a text that the type refuses.
        public var read: @Sendable (String) -> WebURL?

        /// Makes rules. By default nothing is guessed, nothing waits, and nothing is tried again.
        public init(
            secrets: SecretFields = .usual,
            usesHeuristicFreshness: Bool = false,
            waitsForConnectivity: Bool = false,
            triesAgain: Bool = false,
            redirects: Int = RedirectRule.limit,
            reading read: @escaping @Sendable (String) -> WebURL? = { WebURL($0) }
        ) {
            self.secrets = secrets
            self.usesHeuristicFreshness = usesHeuristicFreshness
            self.waitsForConnectivity = waitsForConnectivity
            self.triesAgain = triesAgain
            self.redirects = redirects
            self.read = read
        }

        /// The cache's decision about a request, by these rules.
        func decide(
            _ method: String,
            _ fields: HTTPFields,
            _ mode: CacheMode,
            _ stored: StoredExchange?,
            _ now: Int64
        ) -> CacheDecision {
            CacheRule.decide(
                method: method,
                request: fields,
                mode: mode,
                stored: stored,
                now: now,
                usesHeuristics: usesHeuristicFreshness,
                vary: VaryRule(secrets)
            )
        }
    }

    /// The meaning of a head.
    public struct Verdict: Sendable {
        /// The step to take.
        public let step: Step
        /// The space of credentials that the request carried and the answer has accepted; nil for none.
        public let accepted: ProtectionSpace?
        /// The URLs whose stored responses are no longer good.
        public let invalidated: [WebURL]
    }
}
