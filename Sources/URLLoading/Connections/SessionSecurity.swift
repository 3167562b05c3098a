internal import Foundation
internal import HTTPEngine
internal import Synchronization
internal import TLS

/// A session's TLS: the context that its connections share, and the questions to its delegates about servers.
final class SessionSecurity: TrustEvaluator {
    /// Asks the session's delegates about a server, or about the proxy on the way to it; on the loop.
    typealias Judge = @Sendable (PeerTrust, Proxy?, Origin, @escaping @Sendable (TrustVerdict?) -> Void) -> Void

    /// Asks the session's delegates which certificate to show; on the loop.
    typealias Choice = @Sendable (IdentityRequest, Origin, @escaping @Sendable (IdentityAnswer?) -> Void) -> Void

    /// The questions to the session's delegates.
    struct Questions: Sendable {
        let judge: Judge
        let choice: Choice
        /// How long an answer may take; nil for the engine's limit.
        let limit: @Sendable (Origin) -> Duration?
    }

    private let configuration: TLSConfiguration
    private let isShared: Bool
    /// Nil before the session's first context, and once the session is invalid: then the built-in verdict applies.
    private let questions = Mutex<Questions?>(nil)
    /// The digests of the identities that were shown last.
    private let shown = Mutex(OriginNotes<[UInt8]>())
    /// The servers that a delegate has trusted in spite of their certificates.
    private let excused = Mutex(OriginNotes<Void>())

    /// - Parameter hasDelegate: whether the session itself has one; a task's own does not count.
    init(_ settings: SessionSettings, hasDelegate: Bool) {
        let (minimum, maximum) = (settings.minimumVersion, settings.maximumVersion)
        // The context always asks: a task may have a delegate, and the session's storage may have an identity.
        var configuration = TLSConfiguration.asking
        (configuration.minimumVersion, configuration.maximumVersion) = (minimum, maximum)
        configuration.allowsLegacyAlgorithms = settings.allowsLegacyAlgorithms
        self.configuration = configuration
        isShared = !hasDelegate && minimum == .v1_2 && maximum == .v1_3 && !settings.allowsLegacyAlgorithms
    }

    /// Notes that the session is invalid: from here on the built-in verdict applies.
    func askNoSession() { questions.withLock { $0 = nil } }

    func ask(_ questions: Questions) { self.questions.withLock { $0 = questions } }

    /// Returns the context. Sessions without settings of their own share one: they trust the same servers and show the
    /// same identity, so they may share tickets. A session with a delegate has its own, so that nothing links its
    /// connections with those of others. Throws if the allowed versions exclude each other.
    func context() throws(TLSError) -> TLSContext {
        isShared ? try TLSContext.asking : try TLSContext(configuration)
    }

    /// Returns a context for protocols other than HTTP.
    func streamContext() throws(TLSError) -> TLSContext {
        var configuration = configuration
        configuration.offersHTTP = false
        return try TLSContext(configuration)
    }

    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
        evaluate(trust, nil, origin, answer)
    }

    func evaluate(
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
        guard let questions = questions.withLock({ $0 }) else { return answer(.builtIn) }
        questions.judge(trust, proxy, origin) { [self] verdict in
            if proxy == nil, case .accept = verdict, case .failure = trust.verdict {
                excused.withLock { $0[origin] = () }
            }
            answer(verdict)
        }
    }

    func timeLimit(for origin: Origin) -> Duration? { questions.withLock { $0 }?.limit(origin) }

    func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer?) -> Void
    ) {
        guard let questions = questions.withLock({ $0 }) else { return answer(.configured) }
        questions.choice(request, origin) { [self] chosen in
            guard let chosen else { return answer(nil) }
            // The identity shown before no longer counts for new connections, even if none is shown now.
            let digest: [UInt8]? = if case .show(let identity) = chosen { identity.digest } else { nil }
            shown.withLock { $0[origin] = digest }
            answer(chosen)
        }
    }

    /// The digest of the identity that this session has last shown to a server; nil for none. If the session
    /// has forgotten it, the digest is a random one: it equals no other, so no other session gets the server's answers.
    func identity(shownTo origin: Origin) -> [UInt8]? {
        shown.withLock { shown in
            if let digest = shown[origin] { return digest }
            return shown.hasForgotten ? (0..<32).map { _ in UInt8.random(in: .min ... .max) } : nil
        }
    }

    /// Whether a delegate of this session has trusted a server in spite of its certificate, or may have.
    func hasExcused(_ origin: Origin) -> Bool { excused.withLock { $0[origin] != nil || $0.hasForgotten } }

    /// Whether this session has shown an identity to a server, or has trusted one in spite of its certificate. What it
    /// gets may depend on that.
    var isSpecial: Bool { shown.withLock { !$0.isEmpty } || excused.withLock { !$0.isEmpty } }
}
