public import UncurlHTTP1
package import UncurlTLS

/// Decides what becomes of an answer. It is told each event of one request, and returns what is to be done next.
///
/// ```
///                     ┌── serveStored, fail            ┌── proposeRedirect ──▶ follow(…), decline()
///   begin(…) ─────────┤                                ├── askForCredentials ─▶ reply(…)
///                     └── send ──▶ receive(head) ──────┼── serveUpdated, serveStored, discardStored
///                               └▶ fail(…)             ├── sendAgain
///                                                      └── deliver
/// ```
/// It knows neither sockets, files nor clocks: its owner tells it the time, and does what a ``Step`` says. One machine
/// lives as long as one attempt to get an answer, through all its redirects and challenges. It is never copied.
///
/// The order in which a head is judged:
/// 1. Whether the credentials it carried were right. An answer that then redirects has accepted them as well.
/// 2. Which stored responses a method that changes things invalidates (RFC 9111 §4.4). A redirect does so too: the
///    change has been made.
/// 3. Whether it concerns the stored response. A 304 to the cache's conditions has nothing that a user could read, and
///    an error that a stored response replaces must not be taken for a challenge or a redirect.
/// 4. Whether it is a challenge, before it could be a redirect: 401 never is one.
/// 5. Whether it is a redirect.
/// 6. Whether it is stored. Only what is delivered is: an answer handled in 3 to 5 is not.
/// 7. Whether it is the rest of what is on disk. This is last, since it is a question about the final answer.
///
/// The order in which a failure is judged: 1. Content that only the caller has is asked for again, if the server cannot
/// have seen the request (``RetryRule``). 2. A proxy's challenge is answered, once by the credentials that the owner
/// has for it, then by the user's: any other way would meet the same proxy. 3. A stored response replaces it. A request
/// that accepts stale responses gets one at once. 4. The request waits for connectivity: nothing has been sent, so
/// waiting costs nothing but time. 5. The attempt begins anew, if the owner's rules say so. 6. It fails.
public struct AnswerMachine: ~Copyable, Sendable {
    /// A stored response that may take part in the answer. If `isConditional`, the request carries the cache's
    /// conditions: then a 304 is for the cache.
    private typealias Stored = (exchange: StoredExchange, isConditional: Bool, mayServeStale: Bool)

    private(set) var rules: Rules
    /// How many redirects have been followed.
    public private(set) var redirects = 0
    /// Whether a redirect has led to another origin at least once: fields for the first origin alone are then left out,
    /// even if a later redirect leads back.
    public private(set) var hasLeftOrigin = false
    /// Whether the request's content is sent: no redirect has made the request a GET.
    public private(set) var sendsContent = true
    /// Whether the proposed redirect drops the content.
    private var dropsContent = false
    /// The progress with a server's challenges.
    public private(set) var challenges = ChallengeProgress()
    private var stored: Stored? {
        get { held.first }
        set { held = newValue.map { [$0] } ?? [] }
    }
    /// What is stored, or nothing. It is kept apart, so that a machine without it is small.
    private var held: [Stored] = []
    /// Whether a final head has come: later failures are failures within the answer.
    private var hasHead = false
    private var offer: ResumeOffer?
    private var hasStartedOver = false
    private var hasAskedForStream = false
    private var tries = 0

    /// Makes the machine of a first attempt. A limit of redirects replaces that of the rules. The offer is what an
    /// earlier download has left.
    public init(_ rules: Rules, redirects: Int? = nil, resuming offer: ResumeOffer? = nil) {
        self.rules = rules
        if let redirects { self.rules.redirects = redirects }
        self.offer = offer
    }

    /// Returns the machine of a new attempt after this one: it keeps only how often the request was tried.
    public func anew(resuming offer: ResumeOffer?) -> AnswerMachine {
        var machine = AnswerMachine(rules, resuming: offer)
        machine.tries = tries
        machine.hasAskedForStream = hasAskedForStream
        return machine
    }

    // MARK: Before the request

    /// Range and If-Range of a download that is resumed; empty once it has started over.
    public var resumptionFields: [(name: String, value: [UInt8])] { hasStartedOver ? [] : offer?.fields ?? [] }

    /// Begins a request that is sent whatever is stored: nothing is, or the cache was not asked.
    public mutating func beginUncached() {
        stored = nil
        hasHead = false
    }

    /// Begins a request that may be answered from the cache.
    ///
    /// - Parameters:
    ///   - method: the method as it would be sent.
    ///   - fields: the fields as they would be sent.
    ///   - mode: how far the request may use the cache.
    ///   - found: what is stored for its method and URL; nil for nothing.
    ///   - now: seconds since 1970.
    public mutating func begin(
        method: String,
        fields: HTTPFields,
        mode: CacheMode,
        stored found: StoredExchange?,
        now: Int64
    ) -> Step {
        beginUncached()
        let decision = CacheRule.decide(
            method: method,
            request: fields,
            mode: mode,
            stored: found,
            now: now,
            usesHeuristics: rules.usesHeuristicFreshness,
            vary: VaryRule(rules.secrets)
        )
        switch decision {
        case .load(let mayServeStale):
            if let found, mayServeStale {
                stored = (found, isConditional: false, mayServeStale: true)
            }
            return .send(CacheRule.additions(mode, fields))
        case .validate(let conditions, let mayServeStale):
            if let found { stored = (found, isConditional: true, mayServeStale: mayServeStale) }
            return .send(conditions + CacheRule.additions(mode, fields))
        case .serve(let age, _, let refresh): return .serveStored(age: age, refresh: refresh)
        case .failNothingStored: return .fail(.nothingStored)
        case .answerGatewayTimeout: return .answerGatewayTimeout
        }
    }

    // MARK: The head

    /// Judges the head of a final response.
    ///
    /// - Parameters:
    ///   - head: the response's head.
    ///   - request: the request that it answers.
    ///   - now: when it came, in seconds since 1970. It is computed only if it is needed, as `url` is.
    ///   - url: the request's URL as it was written, which most answers do not need.
    ///   - memory: what servers have accepted before. It learns from this answer.
    public mutating func receive(
        _ head: AnswerHead,
        to request: AskedRequest,
        at now: @autoclosure () -> Int64,
        url: @autoclosure () -> URIReference,
        memory: inout AuthorizationMemory
    ) -> Verdict {
        hasHead = true
        var accepted: ProtectionSpace?
        if let space = request.authorized, head.status != ChallengeAuthenticator.Side.origin.status {
            accepted = accept(space, head.fields, request.url, &memory)
        }
        let invalidated =
            CacheRule.isSafe(request.method)
            ? []
            : CacheRule.invalidated(
                method: request.method,
                url: url(),
                status: head.status,
                response: head.fields
            )
        let step =
            stepByStored(head, request, now) ?? stepByChallenge(head, request, &memory)
            ?? stepByRedirect(head, request, url) ?? stepByContent(head, request)
        return (step, accepted, invalidated)
    }

    /// Notes that the server has switched protocols (101): the credentials that the request carried were right.
    ///
    /// - Returns: the space of these credentials; nil if the request carried none.
    public mutating func switchProtocols(
        _ fields: HTTPFields,
        authorized: ProtectionSpace?,
        url: HTTPURL,
        memory: inout AuthorizationMemory
    ) -> ProtectionSpace? {
        authorized.flatMap { accept($0, fields, url, &memory) }
    }

    private mutating func accept(
        _ space: ProtectionSpace,
        _ fields: HTTPFields,
        _ url: HTTPURL,
        _ memory: inout AuthorizationMemory
    ) -> ProtectionSpace {
        if let authorizer = challenges.authorizer, authorizer.side == .origin {
            memory.remember(authorizer, for: url)
            challenges.authorizer = nil
        }
        memory.note(fields, for: url, in: space)
        return space
    }

    private mutating func stepByStored(_ head: AnswerHead, _ request: AskedRequest, _ now: () -> Int64) -> Step? {
        guard let stored else { return nil }
        if stored.isConditional, head.status == 304 {
            self.stored = nil
            let fresh = CacheRule.freshened(
                stored.exchange,
                by: head.fields,
                requested: request.sent,
                received: now()
            )
            guard let fresh else {
                hasHead = false
                return .discardStored
            }
            return .serveUpdated(fresh)
        }
        return stored.mayServeStale && CacheRule.isError(head.status) ? .serveStored(age: nil, refresh: nil) : nil
    }

    private mutating func stepByChallenge(
        _ head: AnswerHead,
        _ request: AskedRequest,
        _ memory: inout AuthorizationMemory
    ) -> Step? {
        guard head.status == ChallengeAuthenticator.Side.origin.status, request.mayBeAuthorized else { return nil }
        let url = request.url
        let questions = ChallengeQuestion.all(status: head.status, fields: head.fields, url: url)
        guard !questions.isEmpty else { return nil }
        if let refused = request.authorized {
            var used = challenges.authorizer ?? memory.authorizer(for: url, refused)
            if let question = questions.first(where: { $0.space == refused }), used?.renew(question) == true,
                challenges.countAnswer()
            {
                challenges.authorizer = used
                return .sendAgain
            }
            memory.forget(refused, for: url)
            challenges.refuse(refused)
        }
        challenges.questions = questions
        return askNext() ?? .deliver(.whole, .none)
    }

    private mutating func stepByRedirect(
        _ head: AnswerHead,
        _ request: AskedRequest,
        _ url: () -> URIReference
    ) -> Step? {
        guard (301..<400).contains(head.status) else { return nil }
        let redirect = RedirectRule.follow(
            status: head.status,
            fields: head.fields,
            method: request.method,
            url: url(),
            secrets: rules.secrets,
            reading: rules.read
        )
        guard let redirect else { return nil }
        guard mayRedirect else { return .fail(.tooManyRedirects) }
        if redirect.dropsContent { dropsContent = true }
        return .proposeRedirect(redirect)
    }

    private mutating func stepByContent(_ head: AnswerHead, _ request: AskedRequest) -> Step {
        let storage = Self.storage(head, request)
        guard let offer, !hasStartedOver, redirects == 0 || head.status == 206 || head.status == 416 else {
            return .deliver(.whole, storage)
        }
        let decision = ResumeRule.decide(
            status: head.status,
            contentCoding: head.fields["Content-Encoding"],
            contentRange: head.fields["Content-Range"],
            entityTag: head.fields["ETag"],
            lastModified: head.fields["Last-Modified"],
            contentLength: head.length,
            validator: offer.validator,
            received: offer.received,
            expected: offer.expected
        )
        switch decision {
        case .rest(let total): return .deliver(.rest(total: total), storage)
        case .whole, .wholeInsteadOfRest:
            hasStartedOver = true
            return .deliver(.wholeInsteadOfRest, storage)
        case nil: return restIsGone()
        }
    }

    private static func storage(_ head: AnswerHead, _ request: AskedRequest) -> Step.Storage {
        switch request.caching {
        case .none: return .none
        case .compares, .stores: if request.method == "HEAD" { return .compare }
        }
        guard request.caching == .stores else { return .none }
        return CacheStorage.permitted(
            method: request.method,
            request: request.fields,
            status: head.status,
            response: head.fields
        )
    }

    /// Requests the whole content, since what an earlier download has left is of no use, or is gone.
    public mutating func restIsGone() -> Step {
        hasStartedOver = true
        hasHead = false
        return .requestWhole
    }

    // MARK: The user's decisions

    /// Follows a redirect, after ``Step/proposeRedirect(_:)`` or one that the user makes.
    ///
    /// `from` is the URL of the redirected request; `bringsContent` is true if the user has put content into the new
    /// one, `becomesGet` if the user has made it a GET or HEAD, to which the content does not belong.
    public mutating func follow(
        to url: URIReference?,
        from: URIReference?,
        bringsContent: Bool,
        becomesGet: Bool = false
    ) -> Step {
        guard mayRedirect else { return .fail(.tooManyRedirects) }
        redirects += 1
        if let from, let url, from.origin != url.origin { hasLeftOrigin = true }
        if becomesGet { dropsContent = true }
        if dropsContent { sendsContent = bringsContent }
        challenges = ChallengeProgress()
        return .sendAgain
    }

    /// Declines the redirect: the response is the answer.
    public mutating func decline() -> Step {
        dropsContent = false
        return .deliver(.whole, .none)
    }

    /// Takes the user's answer to ``Step/askForCredentials(_:failures:)``, for the request of that URL.
    public mutating func reply(_ reply: ChallengeReply, to question: ChallengeQuestion, url: HTTPURL) -> Step {
        switch reply {
        case .none: challenges.questions = []
        case .next: break
        case .credentials(let credentials):
            guard let authorizer = Authorizer(question, credentials, url: url) else { break }
            guard challenges.countAnswer() else {
                challenges.questions = []
                break
            }
            // A proxy's credentials are sent by the owner. The next answer does not say whether the proxy accepted
            // them.
            if question.side == .proxy {
                challenges.countFailure(question.space)
            } else {
                challenges.authorizer = authorizer
            }
            return .sendAgain
        }
        return askNext() ?? (question.side == .proxy ? .fail(.refusedByProxy) : .deliver(.whole, .none))
    }

    /// Returns the next question of the current challenge; nil without one.
    private mutating func askNext() -> Step? {
        guard !challenges.questions.isEmpty else { return nil }
        let question = challenges.questions.removeFirst()
        let failures = challenges.failures(question.space)
        guard failures < ChallengeQuestion.attemptLimit else {
            // No weaker scheme is tried: after so many refusals the user would send unencrypted what Digest protects.
            challenges.questions = []
            return nil
        }
        return .askForCredentials(question, failures: failures)
    }

    /// Returns the next request's Authorization, from the user's answers; nil if nothing was asked.
    ///
    /// - Parameters: as for ``Authorizer/value(method:target:content:)``.
    public mutating func authorization(
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(AuthenticationError) -> SentAuthorization? {
        guard var authorizer = challenges.authorizer, authorizer.side == .origin else { return nil }
        defer { challenges.authorizer = authorizer }
        let value = try authorizer.octets(method: method, target: target, content: content)
        return SentAuthorization(octets: value, by: authorizer)
    }

    /// Takes the hash of the next request's content, made by ``contentDigest``. One request uses it up.
    package mutating func take(contentHash: [UInt8]?) { challenges.authorizer?.take(contentHash: contentHash) }

    // MARK: Failure

    /// Judges the failure of the exchange, before or within an answer.
    public mutating func fail(_ failure: AnswerFailure) -> Step {
        if let facts = failure.stream, !hasAskedForStream, facts.allowsRetry {
            hasAskedForStream = true
            return .askForStream
        }
        if failure.isAnswerable, challenges.answerProxy() { return .sendAgain }
        if let questions = failure.proxy {
            challenges.questions = questions
            if !challenges.questions.isEmpty { return askNext() ?? .fail(.refusedByProxy) }
        }
        if let stored, stored.mayServeStale, !hasHead { return .serveStored(age: nil, refresh: nil) }
        if rules.waitsForConnectivity, !hasHead, failure.isWithoutConnectivity {
            let isFirst = tries == 0
            return .waitForConnectivity(nextPause(), isFirst: isFirst)
        }
        if rules.triesAgain, failure.isTransient { return .beginAnew(after: nextPause()) }
        return .fail(.failure)
    }

    private mutating func nextPause() -> Duration {
        defer { tries += 1 }
        return RetryRule.pause(after: tries)
    }
}

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
        public var read: @Sendable (String) -> URIReference?

        /// Makes rules. By default nothing is guessed, nothing waits, and nothing is tried again.
        public init(
            secrets: SecretFields = .usual,
            usesHeuristicFreshness: Bool = false,
            waitsForConnectivity: Bool = false,
            triesAgain: Bool = false,
            redirects: Int = RedirectRule.limit,
            reading read: @escaping @Sendable (String) -> URIReference? = { URIReference($0) }
        ) {
            self.secrets = secrets
            self.usesHeuristicFreshness = usesHeuristicFreshness
            self.waitsForConnectivity = waitsForConnectivity
            self.triesAgain = triesAgain
            self.redirects = redirects
            self.read = read
        }
    }

    /// The meaning of a head: the step to take; the space of credentials that the request carried and the answer has
    /// accepted, nil for none; the URLs whose stored responses are no longer good.
    public typealias Verdict = (step: Step, accepted: ProtectionSpace?, invalidated: [URIReference])
}

/// How far a request has come with one server's challenges.
public struct ChallengeProgress: Sendable {
    /// Answers challenges for the next request; nil if nothing was asked, or the answer has been accepted.
    public internal(set) var authorizer: Authorizer? {
        get { held.first }
        set { held = newValue.map { [$0] } ?? [] }
    }
    /// Whether there is an ``authorizer``. Asking this does not copy it.
    public var hasAuthorizer: Bool { !held.isEmpty }
    /// The authorizer, or nothing. It is kept apart: most requests are never challenged, and an authorizer is large.
    private var held: [Authorizer] = []
    /// The questions of the current challenge that have not been asked yet.
    var questions: [ChallengeQuestion] = []
    /// How many answers to this request were refused, by space.
    private var refused: [ProtectionSpace: Int] = [:]
    /// How often the request was sent with an answer.
    private var answers = 0
    /// Whether the request was sent again with credentials that the owner had for its proxy.
    private var hasAnsweredProxy = false

    func failures(_ space: ProtectionSpace) -> Int { refused[space, default: 0] }

    mutating func countFailure(_ space: ProtectionSpace) { refused[space, default: 0] += 1 }

    /// Notes that the credentials were refused. Credentials sent without a challenge may be old: only those that this
    /// request was given count.
    mutating func refuse(_ space: ProtectionSpace) {
        if hasAuthorizer { countFailure(space) }
        authorizer = nil
    }

    /// Counts one more answer. Returns false if the request was sent with answers often enough: a server may name
    /// another realm, or call each nonce stale, for ever.
    mutating func countAnswer() -> Bool {
        answers += 1
        return answers <= ChallengeQuestion.answerLimit
    }

    /// Notes that the owner's credentials answer the proxy. Returns false if they have done so: they were refused, or
    /// the proxy calls each nonce stale.
    mutating func answerProxy() -> Bool {
        defer { hasAnsweredProxy = true }
        return !hasAnsweredProxy
    }
}

/// The request that an event concerns, with what the rules need of it.
public struct AskedRequest {
    /// The method as it was sent.
    public let method: String
    /// Where it was sent.
    public let url: HTTPURL
    /// The fields as they were sent.
    public let fields: HTTPFields
    /// Whether the caller has put an Authorization field into it: then the caller answers challenges.
    public let hasOwnAuthorization: Bool
    /// The space of the answer to a challenge that the request carried; nil if it carried none.
    public let authorized: ProtectionSpace?
    /// When the request was sent, in seconds since 1970.
    public let sent: Int64
    /// Whether the answer may be stored.
    public let caching: Caching

    /// What the owner's cache may do with an answer.
    public enum Caching: Hashable, Sendable {
        /// There is no cache.
        case none
        /// The answer is not stored, as those to files and streams are not; but it may update or remove what is stored.
        case compares
        /// The answer is stored if the rules permit it.
        case stores
    }

    /// Whether a challenge to it is answered. A TRACE carries no credentials, since its answer repeats them (RFC 9110
    /// §9.3.8).
    var mayBeAuthorized: Bool { !hasOwnAuthorization && method != "TRACE" }

    /// See the properties.
    public init(
        method: String,
        url: HTTPURL,
        fields: HTTPFields,
        hasOwnAuthorization: Bool,
        authorized: ProtectionSpace?,
        sent: Int64,
        caching: Caching
    ) {
        self.caching = caching
        self.method = method
        self.url = url
        self.fields = fields
        self.hasOwnAuthorization = hasOwnAuthorization
        self.authorized = authorized
        self.sent = sent
    }
}

/// The head of a final response.
public struct AnswerHead {
    /// The status, from 200 on.
    public let status: Int
    /// The fields as the server sent them.
    public let fields: HTTPFields
    /// The length of the content as it will be delivered, in octets; -1 where it is not known.
    public let length: Int64

    /// See the properties.
    public init(status: Int, fields: HTTPFields, length: Int64) {
        self.status = status
        self.fields = fields
        self.length = length
    }
}

/// The failure of an exchange, with what the rules need of it.
public struct AnswerFailure: Sendable {
    /// The questions of a proxy that has asked for credentials instead of opening a tunnel or passing the request on;
    /// nil for every other failure.
    public var proxy: [ChallengeQuestion]?
    /// Whether credentials that the owner has for the proxy answer its challenge once the request is sent again.
    package var isAnswerable = false
    /// Whether there was no way to the server, as the kernel or the name service says. There may be one later.
    public var isWithoutConnectivity: Bool
    /// Whether the fault is the network's, so that another try may succeed. What the server or its certificate says, it
    /// would say again.
    public var isTransient: Bool
    /// The facts of a retry, for content that only the caller has, and must give again. Nil for
    /// other content.
    public var stream: RetryRule?

    /// See the properties.
    public init(
        proxy: [ChallengeQuestion]? = nil,
        isWithoutConnectivity: Bool = false,
        isTransient: Bool = false,
        stream: RetryRule? = nil
    ) {
        self.proxy = proxy
        self.isWithoutConnectivity = isWithoutConnectivity
        self.isTransient = isTransient
        self.stream = stream
    }
}

/// The user's answer to a challenge.
public enum ChallengeReply: Sendable {
    /// A name and a password.
    case credentials(Credentials)
    /// Declines this question; the user may answer the next.
    case next
    /// Declines all questions: the refusal is the answer.
    case none
}

/// What an earlier download has left, as the offer to request the rest.
public struct ResumeOffer: Hashable, Sendable {
    /// The value of If-Range: a strong entity tag, or a date.
    public let validator: String
    /// How much is on disk, in octets.
    public let received: Int64
    /// The length of the whole; -1 where it is not known.
    public let expected: Int64

    /// See the properties.
    public init(validator: String, received: Int64, expected: Int64) {
        self.validator = validator
        self.received = received
        self.expected = expected
    }

    /// The fields Range and If-Range (RFC 9110 §14.2, §13.1.5).
    public var fields: [(name: String, value: [UInt8])] {
        [("Range", Array("bytes=\(received)-".utf8)), ("If-Range", Array(validator.utf8))]
    }
}

/// The next thing to do about a request, which ``AnswerMachine`` returns for each event. The owner does it, and tells
/// the machine the result. Rare, large cases are indirect: the step of a usual answer is small.
public enum Step: Sendable {
    /// Sends the request over the network, with these fields besides its own.
    case send([(name: String, value: [UInt8])])
    /// Makes the stored response the answer.
    ///
    /// - `age`: in seconds, for the Age field; nil: it is computed when the response is served.
    /// - `refresh`: the conditions of a request that updates the cache meanwhile (RFC 5861 §3); nil for none.
    case serveStored(age: Int64?, refresh: [(name: String, value: [UInt8])]?)
    /// Makes the stored response the answer, with the fields as a 304 has updated them.
    indirect case serveUpdated(StoredExchange)
    /// Removes the stored response, which is no longer good, and sends the request again without conditions.
    case discardStored
    /// Makes a 504 the answer: nothing is stored, and the request accepts nothing else (RFC 9111 §5.2.1.7).
    case answerGatewayTimeout
    /// Asks the user, or a store of credentials, for a user name and a password.
    ///
    /// - `failures`: how many answers to this question were refused before.
    indirect case askForCredentials(ChallengeQuestion, failures: Int)
    /// Asks the user whether to follow the redirect. Without a user to ask, it is followed.
    indirect case proposeRedirect(Redirect)
    /// Sends the request again, or the one that the user has put in its place.
    case sendAgain
    /// Sends the request again, for the whole content. What an earlier download has left is of no use and is removed,
    /// and the rest of this answer is not worth reading.
    case requestWhole
    /// Asks the user for the content's stream once more, and then sends the request again.
    case askForStream
    /// Waits for a way to the server, and then sends the request again.
    ///
    /// - `isFirst`: whether the user has not been told yet that it waits.
    case waitForConnectivity(Duration, isFirst: Bool)
    /// Begins anew after that time, with the content that has come so far if it can be continued.
    case beginAnew(after: Duration)
    /// Makes the response the answer.
    case deliver(Placement, Storage)
    /// Fails the request.
    case fail(Reason)

    /// Where the content of an answer is written, if it goes to a file.
    public typealias Placement = ResumeRule.Placement

    /// What the cache does with the answer, once it is complete.
    public typealias Storage = CacheStorage

    /// The reason for failing.
    public enum Reason: Hashable, Sendable {
        /// More than ``AnswerMachine/Rules/redirects`` redirects.
        case tooManyRedirects
        /// Only the cache was to be asked, and it holds nothing.
        case nothingStored
        /// The proxy refuses all available credentials.
        case refusedByProxy
        /// The exchange has failed, and neither a new try nor a stored response can replace it.
        case failure
    }
}
