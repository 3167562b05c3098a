public import Foundation
package import UncurlTLS

/// A server's certificates, and whether they prove its identity: Linux's counterpart of `SecTrust`. It comes with the
/// protection space of an ``NSURLAuthenticationMethodServerTrust`` challenge. It never changes; any thread.
public final class URLServerTrust: Sendable {
    package let trust: PeerTrust

    package init(_ trust: PeerTrust) {
        self.trust = trust
    }

    /// The name or address that the certificate must be for. Lower case, without a trailing dot.
    public var host: String { trust.name.text }

    /// The certificates in DER, as they were sent, the server's own first.
    public var certificates: [Data] { trust.certificates.map { Data($0) } }

    /// The SHA-256 of each certificate's public key (SubjectPublicKeyInfo in DER), in the order of ``certificates``.
    /// Pins compare it (RFC 7469 §2.4).
    public var publicKeySHA256: [Data] { trust.facts.map { Data($0.spkiSHA256) } }

    /// The certificates' subjects in the form of RFC 4514, in the order of ``certificates``.
    public var subjects: [String] { trust.facts.map(\.subject) }

    /// The OCSP response (RFC 6960) that came with the certificates, in DER; nil if none was asked for or none came.
    public var stapledResponse: Data? { trust.stapledResponse.map { Data($0) } }

    /// Returns if the certificates prove, by the session's own rules, that the server is ``host``; throws if not. Does
    /// not block.
    ///
    /// - Throws: `URLError`, with the reason as its underlying error.
    public func evaluate() throws {
        if case .failure(let failure) = trust.verdict { throw Self.error(failure) }
    }

    /// Verifies the certificates by other rules.
    ///
    /// - Parameters:
    ///   - anchors: certificates in DER, which are the only ones that count as roots; nil takes the system's. Those are
    ///   read from disk if they were not needed before, which blocks.
    ///   - validatesHost: false accepts a certificate for any name.
    /// - Throws: `URLError`, with the reason as its underlying error.
    public func evaluate(anchors: [Data]?, validatesHost: Bool = true) throws {
        let roots: TrustAnchors
        if let anchors {
            do throws(CertificateError) {
                var certificates: [Certificate] = []
                for der in anchors { certificates.append(try Certificate(der: Array(der))) }
                roots = TrustAnchors(certificates)
            } catch {
                throw Self.error(.serverCertificateUntrusted, "An anchor is unreadable: \(error)")
            }
        } else {
            switch TrustStore.shared(.system).load() {
            case .success(let anchors): roots = anchors
            case .failure(let error): throw Self.error(.serverCertificateUntrusted, "\(error)")
            }
        }
        let verdict = PeerVerifier.verify(trust.sent, name: validatesHost ? trust.name : nil, anchors: roots)
        if case .failure(let failure) = verdict { throw Self.error(failure) }
    }

    static func error(_ failure: TLSTrustFailure) -> URLError {
        error(URLError.Code(failure.reason), failure.description)
    }

    private static func error(_ code: URLError.Code, _ words: String) -> URLError {
        let reason = NSError(
            domain: "URLLoading.ServerTrust",
            code: code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: words]
        )
        return URLError(code, userInfo: [NSUnderlyingErrorKey: reason, NSLocalizedDescriptionKey: words])
    }
}

extension URLServerTrust: Hashable {
    /// Whether both have the same certificates for the same name.
    public static func == (left: URLServerTrust, right: URLServerTrust) -> Bool {
        left === right || (left.trust.name == right.trust.name && left.certificates == right.certificates)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(trust.name)
        hasher.combine(trust.certificates)
    }
}
