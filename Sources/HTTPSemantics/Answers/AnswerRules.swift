package import TLS

extension AnswerMachine {
    /// What the user has given goes along with the next request. Cheaper than ``challenges``.
    public var hasAuthorizer: Bool { challenges.hasAuthorizer }

    /// Whether one more redirect may be followed.
    public var mayRedirect: Bool { redirects < RedirectRule.limit }

    /// How content that is not in memory is to be hashed before the next ``authorization(method:target:content:)``;
    /// nil: it is not.
    package var contentDigest: MessageDigest? {
        guard let authorizer = challenges.authorizer, authorizer.side == .origin else { return nil }
        return authorizer.contentDigest
    }

    /// What the owner wants of each request.
    public struct Rules: Sendable {
        /// The fields that another origin is not sent, and that a stored response's user is known by.
        public var secrets: SecretFields
        /// A request that finds no way to its server waits for one.
        public var waitsForConnectivity: Bool
        /// A request that the network has failed is tried again, for as long as its owner lets it.
        public var triesAgain: Bool
        /// Takes a redirect's target as the owner's own URL type does; nil for what that type refuses.
        public var read: @Sendable (String) -> WebURL?

        /// Without other words: nothing waits, nothing is tried again.
        public init(
            secrets: SecretFields = .usual,
            waitsForConnectivity: Bool = false,
            triesAgain: Bool = false,
            reading read: @escaping @Sendable (String) -> WebURL? = { WebURL($0) }
        ) {
            self.secrets = secrets
            self.waitsForConnectivity = waitsForConnectivity
            self.triesAgain = triesAgain
            self.read = read
        }
    }

    /// What a head means beside the step that follows on it.
    public struct Verdict: Sendable {
        /// What is to be done.
        public let step: Step
        /// The credentials that went along were right, for this space.
        public let accepted: ProtectionSpace?
        /// The URLs for which nothing stored is good any more.
        public let invalidated: [WebURL]
    }
}
