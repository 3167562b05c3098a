internal import Foundation
internal import HTTPEngine
internal import Synchronization
internal import TLS

/// What a session knows of certificates: the context its connections share, and whom to ask about servers.
final class SessionSecurity: TrustEvaluator {
    /// Asks the session's user about a server; on the loop.
    typealias Judge = @Sendable (PeerTrust, Origin, @escaping @Sendable (TrustVerdict) -> Void) -> Void

    /// Asks the session's user which certificate to show; on the loop.
    typealias Choice = @Sendable (IdentityRequest, Origin, @escaping @Sendable (IdentityAnswer) -> Void) -> Void

    private let minimum: TLSVersion
    private let maximum: TLSVersion
    /// Nil for a session without a delegate: the built-in verdict counts.
    private let judge: Mutex<Judge?>
    private let choice = Mutex<Choice?>(nil)
    private let shown = Mutex<[Origin: [UInt8]]>([:])
    private let hasJudge: Bool
    /// Whose identities are shown to servers that ask; nil for none.
    private let credentials: URLCredentialStorage?

    init(_ settings: SessionSettings, asksDelegate: Bool) {
        minimum = settings.minimumVersion
        maximum = settings.maximumVersion
        judge = Mutex(nil)
        hasJudge = asksDelegate
        credentials = settings.credentials
    }

    func setJudge(_ judge: Judge?) { self.judge.withLock { $0 = judge } }
    func setChoice(_ choice: Choice?) { self.choice.withLock { $0 = choice } }

    /// The standard one for a session that shows nobody anything. A session with a delegate has one of its own: what one session's user has accepted is not resumed
    /// by another's. Fails where the versions asked for exclude each other.
    func context() throws(TLSError) -> TLSContext {
        let isUsual = !hasJudge && minimum == .v1_2 && maximum == .v1_3
        guard isUsual else { return try TLSContext(configuration) }
        guard let credentials else { return try TLSContext.standard }
        // Those who have the same identities to show may resume each other's connections, and nobody else.
        return credentials === URLCredentialStorage.shared
            ? try SessionSecurity.sharing.get() : try TLSContext(configuration)
    }

    private static let sharing = Result<TLSContext, TLSError> { () throws(TLSError) in
        var configuration = TLSConfiguration()
        configuration.identityDecision = .asks
        return try TLSContext(configuration)
    }

    /// For what is not HTTP.
    func streamContext() throws(TLSError) -> TLSContext {
        var configuration = configuration
        configuration.offersHTTP = false
        return try TLSContext(configuration)
    }

    private var configuration: TLSConfiguration {
        var configuration = TLSConfiguration()
        configuration.minimumVersion = minimum
        configuration.maximumVersion = maximum
        if hasJudge { configuration.trustDecision = .asks }
        if hasJudge || credentials != nil { configuration.identityDecision = .asks }
        return configuration
    }

    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict) -> Void) {
        guard let judge = judge.withLock({ $0 }) else { return answer(.builtIn) }
        judge(trust, origin, answer)
    }

    func chooseIdentity(
        for request: IdentityRequest,
        of origin: Origin,
        answer: @escaping @Sendable (IdentityAnswer) -> Void
    ) {
        guard let choice = choice.withLock({ $0 }) else { return answer(.configured) }
        choice(request, origin) { [self] chosen in
            if case .show(let identity) = chosen { shown.withLock { $0[origin] = identity.digest } }
            answer(chosen)
        }
    }

    /// By what to know the identity that this session has last shown to a server; nil for none.
    func identity(shownTo origin: Origin) -> [UInt8]? { shown.withLock { $0[origin] } }

    var hasShownIdentities: Bool { shown.withLock { !$0.isEmpty } }
}
