internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlText

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

    var user: String? {
        switch proof {
        case .password(let user, _): user
        case .identity, .trust: nil
        }
    }

    var password: String? {
        switch proof {
        case .password(_, let password): password
        case .identity, .trust: nil
        }
    }

    var identity: URLClientIdentity? {
        switch proof {
        case .identity(let identity, _): identity
        case .password, .trust: nil
        }
    }

    var trust: URLServerTrust? {
        switch proof {
        case .trust(let trust): trust
        case .password, .identity: nil
        }
    }

    var intermediates: [Data] {
        switch proof {
        case .identity(let identity, let own): own ?? Array(identity.certificates.dropFirst())
        case .password, .trust: []
        }
    }

    /// The user name and password, for Basic and Digest; nil for another kind of credential.
    var words: Credentials? {
        switch proof {
        case .password(let user, let password): Credentials(user: user, password: password)
        case .identity, .trust: nil
        }
    }

    /// Returns the identity for TLS; nil for another kind of credential.
    func tlsIdentity() throws(URLClientIdentity.Unusable) -> ClientIdentity? {
        switch proof {
        case .identity(let identity, let own): try identity.tlsIdentity(sending: own)
        case .password, .trust: nil
        }
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
