internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import TLS

/// What a ``URLCredential`` holds.
struct Credential: Hashable, Sendable {
    enum Proof: Hashable, Sendable {
        case password(user: String, password: String)
        /// `intermediates` in DER, instead of those the identity came with.
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

    /// For the engine's Basic and Digest.
    var words: Credentials? {
        switch proof {
        case .password(let user, let password): Credentials(user: user, password: password)
        case .identity, .trust: nil
        }
    }

    /// For the engine's TLS; nil for another kind of credential.
    func tlsIdentity() throws(URLClientIdentity.Unusable) -> ClientIdentity? {
        switch proof {
        case .identity(let identity, let own): try identity.tlsIdentity(sending: own)
        case .password, .trust: nil
        }
    }
}

extension Credential {
    /// What a storage files it under: a user has one credential in a space, and a program one identity.
    var name: String { user ?? "" }

    /// Whether a storage takes it at all.
    var isStorable: Bool {
        switch persistence {
        case .forSession, .permanent: true
        // `synchronizable`, which is deprecated, is not named, so that nothing warns.
        default: false
        }
    }
}
