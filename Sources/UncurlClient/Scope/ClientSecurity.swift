internal import Synchronization
package import UncurlEngine
internal import UncurlHTTP1
package import UncurlSemantics
package import UncurlTLS
internal import UncurlText

/// A session's TLS: the context that its connections share, and the questions to its delegates about servers. An object
/// that answers them for its own tasks, such as a task's delegate, has a security of its own: what is made under its
/// answers serves no other task.
package final class ClientSecurity: TrustEvaluator {
    package typealias Owner = any AnyObject & Sendable

    /// Asks the session's delegates about a server, or about the proxy on the way to it; on the loop.
    package typealias Judge =
        @Sendable (PeerTrust, Proxy?, Origin, ClientSecurity, @escaping @Sendable (TrustVerdict?) -> Void) -> Void

    /// Asks the session's delegates which certificate to show; on the loop. The answer says whether it was taken from
    /// the session's storage, and no delegate asked.
    package typealias Choice =
        @Sendable (IdentityRequest, Origin, ClientSecurity, @escaping @Sendable (IdentityAnswer?, Bool) -> Void) ->
        Void

    /// The questions to the session's delegates.
    ///
    /// `limit` says how long an answer may take; nil for the engine's limit.
    package typealias Questions = (
        judge: Judge, choice: Choice, limit: @Sendable (Origin, ClientSecurity) -> Duration?
    )

    /// What all securities of a session share.
    private final class Shared: Sendable {
        /// In a structure: each look at a closure that lies bare in a mutex wraps it once more, and after a hundred
        /// thousand connections the call would need more stack than a thread has.
        struct Wrapped {
            let questions: Questions
        }

        let configuration: TLSConfiguration
        let isSharedContext: Bool
        /// Nil before the session's first context, and once the session is invalid: then the built-in verdict applies.
        private let held = Mutex<Wrapped?>(nil)

        init(_ configuration: TLSConfiguration, isSharedContext: Bool) {
            (self.configuration, self.isSharedContext) = (configuration, isSharedContext)
        }

        var questions: Questions? {
            get { held.withLock { $0?.questions } }
            set { held.withLock { $0 = newValue.map { Wrapped(questions: $0) } } }
        }
    }

    private let shared: Shared
    /// Whether it belongs to an object that answers for its own tasks, and not to the session.
    package let isOwned: Bool
    /// That object, while it exists.
    package weak let owner: Owner?
    /// Different for each owner of the process, and for each process: stored answers outlive both.
    package let resumptionScope: String
    /// The servers that have asked for a certificate, and whether the session's storage alone has answered the last
    /// time.
    private let choosers = Mutex(OriginNotes<Bool>())
    /// The servers that a delegate has trusted in spite of their certificates.
    private let excused = Mutex(OriginNotes<Void>())

    /// - Parameter hasDelegate: whether something answers for all loads of the client; a load's own does not count.
    package init(_ minimum: TLSVersion, _ maximum: TLSVersion, allowsLegacyAlgorithms: Bool, hasDelegate: Bool) {
        // The context always asks: a load may have a delegate, and a store of credentials an identity.
        var configuration = TLSConfiguration.asking
        (configuration.minimumVersion, configuration.maximumVersion) = (minimum, maximum)
        configuration.allowsLegacyAlgorithms = allowsLegacyAlgorithms
        let isShared = !hasDelegate && minimum == .v1_2 && maximum == .v1_3 && !allowsLegacyAlgorithms
        shared = Shared(configuration, isSharedContext: isShared)
        (isOwned, owner, resumptionScope) = (false, nil, "")
    }

    /// Makes the security of an object that answers for its own tasks.
    init(of owner: Owner, in session: ClientSecurity) {
        shared = session.shared
        (isOwned, self.owner) = (true, owner)
        resumptionScope = "\(Self.process)-\(Self.last.add(1, ordering: .relaxed).newValue)"
    }

    private static let process = UInt64.random(in: .min ... .max)
    private static let last = Atomic<UInt64>(0)

    /// Notes that the session is invalid: from here on the built-in verdict applies.
    package func askNoSession() { shared.questions = nil }

    package func ask(_ questions: Questions) { shared.questions = questions }

    /// Returns the context. Sessions without settings of their own share one: they trust the same servers and show the
    /// same identity, so they may share tickets. A session with a delegate has its own, so that nothing links its
    /// connections with those of others. Throws if the allowed versions exclude each other.
    package func context() throws(TLSError) -> TLSContext {
        shared.isSharedContext ? try TLSContext.asking : try TLSContext(shared.configuration)
    }

    /// Returns a context for protocols other than HTTP.
    package func streamContext() throws(TLSError) -> TLSContext {
        var configuration = shared.configuration
        configuration.offersHTTP = false
        return try TLSContext(configuration)
    }

    // MARK: Questions

    package func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
        evaluate(trust, nil, origin, answer)
    }

    package func evaluate(
        _ trust: PeerTrust,
        of proxy: Proxy,
        to origin: Origin,
        answer: @escaping @Sendable (TrustVerdict?) -> Void
    ) {
        evaluate(trust, proxy, origin, answer)
    }

    private func evaluate(
        _ trust: PeerTrust,
        _ proxy: Proxy?,
        _ origin: Origin,
        _ answer: @escaping @Sendable (TrustVerdict?) -> Void
    ) {
        guard let questions = shared.questions else { return answer(.builtIn) }
        questions.judge(trust, proxy, origin, self) { [self] verdict in
            // A proxy that is trusted so could change the answers of servers that it is asked for without TLS.
            if proxy == nil || origin.scheme == .http, case .accept = verdict, case .failure = trust.verdict {
                excused.withLock { $0[origin] = () }
            }
            answer(verdict)
        }
    }

    package func timeLimit(for origin: Origin) -> Duration? { shared.questions?.limit(origin, self) }

    package func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer?) -> Void
    ) {
        guard let questions = shared.questions else { return answer(.configured) }
        questions.choice(request, origin, self) { [self] chosen, isStored in
            if chosen != nil { choosers.withLock { $0[origin] = isStored } }
            answer(chosen)
        }
    }

    // MARK: Stored answers

    /// Whether a delegate has trusted a server in spite of its certificate, or may have. Its answers are not stored.
    package func hasExcused(_ origin: Origin) -> Bool { excused.withLock { $0[origin] != nil || $0.hasForgotten } }

    /// Whether the answers that its tasks get may depend on what it has answered.
    var isSpecial: Bool { isOwned || choosers.withLock { !$0.isEmpty } }

    /// Returns the identity that a request to this server would be sent with. If that is for a delegate to say, it is a
    /// random digest: it equals no other, so no answer that is stored for one user is found.
    ///
    /// - Parameter stored: the digest of the identity that the session's storage has for the server.
    func expectedIdentity(for origin: Origin, stored: () -> [UInt8]?) -> [UInt8]? {
        let isStored = choosers.withLock { $0[origin] ?? ($0.hasForgotten ? false : nil) }
        switch isStored {
        case nil: return nil
        case true?: return stored()
        case false?: return (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        }
    }

    /// Adds to a request's fields, as they are compared with other requests', under whose answers it is sent, and with
    /// which identity.
    func mark(_ fields: inout HTTPFields, with identity: [UInt8]?) {
        guard isOwned || identity != nil else { return }
        let digest = identity.map { base64Text($0) } ?? ""
        try? fields.replace(VaryRule.clientCertificate, "\(resumptionScope) \(digest)")
    }
}

/// What a session notes of origins. A server may have any number of them, so beyond a limit all notes are forgotten,
/// and it is known only that there were some.
package struct OriginNotes<Note> {
    static var limit: Int { 1024 }

    private var notes: [Origin: Note] = [:]
    /// Whether any origin without a note may have had one.
    private(set) var hasForgotten = false

    var isEmpty: Bool { notes.isEmpty && !hasForgotten }
    var count: Int { notes.count }

    subscript(origin: Origin) -> Note? {
        get { notes[origin] }
        set {
            if newValue != nil, notes.count >= Self.limit, notes[origin] == nil {
                notes = [:]
                hasForgotten = true
            }
            notes[origin] = newValue
        }
    }
}
