public import Foundation
internal import UncurlEngine
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlText

/// A proof of identity: a user name and a password, a certificate with its key, or the decision that a server is
/// trusted. It never changes; any thread.
open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// How long a credential is kept.
    @frozen public enum Persistence: UInt, Sendable {
        /// Used once, never stored.
        case none
        /// Kept in memory.
        case forSession
        /// Kept on disk by ``URLCredentialStorage/shared``, in memory by other storages.
        case permanent
        /// Meant for other devices too. There are none here, so no storage keeps it.
        @available(
            *,
            deprecated,
            message: "There is no synchronized storage on Linux: such credentials are not stored."
        )
        case synchronizable
    }

    let value: Credential

    init(_ value: Credential) {
        self.value = value
    }

    /// Makes a credential of a user name and a password.
    public init(user: String, password: String, persistence: URLCredential.Persistence) {
        value = Credential(proof: .password(user: user, password: password), persistence: persistence)
    }

    /// Makes a credential of a client certificate, for ``NSURLAuthenticationMethodClientCertificate``.
    ///
    /// - Parameters:
    ///   - identity: a certificate with its key.
    ///   - certificates: in DER, sent after the identity's own certificate; nil sends those that the identity came
    ///     with. If the octets are not a certificate, the handshake fails with that reason.
    ///   - persistence: how long a storage keeps it.
    public init(
        identity: URLClientIdentity,
        certificates: [Data]? = nil,
        persistence: URLCredential.Persistence
    ) {
        value = Credential(proof: .identity(identity, intermediates: certificates), persistence: persistence)
    }

    /// Makes a credential that trusts the server, whatever its certificate: for
    /// ``NSURLAuthenticationMethodServerTrust``.
    public init(trust: URLServerTrust) {
        value = Credential(proof: .trust(trust), persistence: .none)
    }

    /// How long a storage keeps it.
    open var persistence: URLCredential.Persistence { value.persistence }

    /// The user name; nil unless it was made with a name and a password.
    open var user: String? { value.user }

    /// The password; nil unless it was made with a name and a password.
    open var password: String? { value.password }

    /// Whether there is a password, even an empty one.
    open var hasPassword: Bool { value.password != nil }

    /// The identity; nil unless it was made with one.
    open var identity: URLClientIdentity? { value.identity }

    /// The certificates sent after the identity's own, in DER.
    open var certificates: [Data] { value.intermediates }

    open override func copy() -> Any { self }
    /// Returns the same object: credentials never change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? URLCredential)?.value == value
    }

    open override var hash: Int { value.hashValue }

    // MARK: Archives, under FoundationNetworking's keys

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archive; nil unless it is keyed and holds a name and a password.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding,
            let user = aDecoder.string("NS._user"), let password = aDecoder.string("NS._password"),
            let number = aDecoder.number("NS._persistence"),
            let persistence = Persistence(rawValue: number.uintValue)
        else { return nil }
        let proof = Credential.Proof.password(user: user, password: password)
        value = Credential(proof: proof, persistence: persistence)
    }

    /// Writes name and password unencrypted. Private keys and trust never leave the process: ``init(coder:)`` returns
    /// nil for the archive of such a credential, and for one of a coder without keys.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding, case .password(let user, let password) = value.proof else { return }
        aCoder.encode(NSString(string: user), forKey: "NS._user")
        aCoder.encode(NSString(string: password), forKey: "NS._password")
        aCoder.encode(NSNumber(value: value.persistence.rawValue), forKey: "NS._persistence")
    }
}

/// The value of a ``URLCredential``.
struct Credential: Hashable, Sendable {
    enum Proof: Hashable, Sendable {
        case password(user: String, password: String)
        /// `intermediates` are in DER, and replace those that the identity came with.
        case identity(URLClientIdentity, intermediates: [Data]?)
        case trust(URLServerTrust)
    }

    let proof: Proof
    let persistence: URLCredential.Persistence

    var user: String? { words?.user }
    var password: String? { words?.password }
    var identity: URLClientIdentity? { if case .identity(let identity, _) = proof { identity } else { nil } }
    var trust: URLServerTrust? { if case .trust(let trust) = proof { trust } else { nil } }

    var intermediates: [Data] {
        guard case .identity(let identity, let own) = proof else { return [] }
        return own ?? Array(identity.certificates.dropFirst())
    }

    /// The user name and password, for Basic and Digest; nil for another kind of credential.
    var words: Credentials? {
        guard case .password(let user, let password) = proof else { return nil }
        return Credentials(user: user, password: password)
    }

    /// Returns the identity for TLS; nil for another kind of credential.
    func tlsIdentity() throws(URLClientIdentity.Unusable) -> ClientIdentity? {
        guard case .identity(let identity, let own) = proof else { return nil }
        return try identity.tlsIdentity(sending: own)
    }
}

extension Credential {
    /// The name under which a storage keeps it: a user has one credential in a space, and a program one identity.
    var name: String { user ?? "" }

    /// Whether a storage keeps it at all. Names are keys there, and both words are compared: neither may have a run of
    /// combining marks that takes long to compare.
    var isStorable: Bool {
        guard ![user, password].contains(where: { $0.map(MarkRun.isTooLong) ?? false }) else { return false }
        switch persistence {
        case .forSession, .permanent: return true
        // `synchronizable` is deprecated; it is not named, so the compiler does not warn.
        default: return false
        }
    }
}
