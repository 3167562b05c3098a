import CertificateTestSupport
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import Uncurl

/// Policies in the place where they are used: a session's server-trust challenge, over TLS.
@Suite("Trust over TLS", .timeLimit(.minutes(5)))
struct LiveTrustTests {
    private let made: TestCertificates.Identity
    private let server: TestServer

    init() throws {
        made = try TestCertificates.localhost
        server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(made)))
    }

    private final class Delegate: NSObject, URLSessionDelegate {
        let evaluator: any ServerTrustEvaluator
        let failure = Mutex<Uncurl.TrustFailure?>(nil)

        init(_ evaluator: any ServerTrustEvaluator) { self.evaluator = evaluator }

        func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            do {
                let credential = try evaluator.credential(for: challenge)
                completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
            } catch {
                failure.withLock { $0 = error }
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    }

    /// The reason's bare name; nil: the request went through.
    private func load(_ evaluator: any ServerTrustEvaluator, host: String = "localhost") async throws -> String? {
        let delegate = Delegate(evaluator)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: "https://\(host):\(server.port)/bytes/10"))
        do {
            let (data, _) = try await session.data(from: url)
            #expect(data.count == 10)
        } catch let error as URLError {
            #expect(error.code == .cancelled)
        }
        return delegate.failure.withLock { $0.map { String("\($0.reason)".prefix { $0 != "(" }) } }
    }

    @Test("the default refuses a server of an unknown authority", .rows("C4", "C9", "D18"))
    func strangers() async throws {
        #expect(try await load(SecurityPolicy.default) == "incompleteChain")
    }

    @Test("a pinned authority, with invalid chains allowed, proves its servers and their names", .rows("C6"))
    func certificate() async throws {
        var policy = try SecurityPolicy.pinning(.certificate, to: TrustedCertificate.all(inPEM: made.authorityPEM))
        #expect(try await load(policy) == "incompleteChain")
        policy.allowsInvalidCertificates = true
        #expect(try await load(policy) == nil)
        #expect(try await load(policy, host: "127.0.0.1") == nil)
        policy.certificates = try TrustedCertificate.all(inPEM: TestCertificates.client.authorityPEM)
        #expect(try await load(policy) == "incompleteChain")
    }

    @Test("a pinned key, with roots of the policy's own", .rows("C7"))
    func key() async throws {
        var policy = try SecurityPolicy.pinning(.publicKey, to: TrustedCertificate.all(inPEM: made.chainPEM))
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        #expect(try await load(policy) == nil)
        policy.certificates = try TrustedCertificate.all(inPEM: TestCertificates.client.chainPEM)
        #expect(try await load(policy) == "noPinMatches")
    }

    @Test("any certificate for a proven name is refused in the handshake, too", .rows("C2"))
    func contradiction() async throws {
        var policy = SecurityPolicy.default
        policy.allowsInvalidCertificates = true
        #expect(try await load(policy) == "contradiction")
        policy.validatesDomainName = false
        #expect(try await load(policy) == nil)
    }

    @Test("a host without a rule is refused, one with a rule is judged by it", .rows("B22"))
    func hosts() async throws {
        var trusted = SecurityPolicy.default
        trusted.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        let policies = try HostPolicies(["localhost": trusted])
        #expect(try await load(policies) == nil)
        #expect(try await load(policies, host: "127.0.0.1") == "unknownHost")
    }

    @Test("certificates of the matrix are judged in the handshake as they are by the policy as a function")
    func matrix() async throws {
        for one in try CertificateMatrix.cases() where one.host == "a.test" {
            guard one.revocationLists == nil, !one.isStaplingRequired, !one.isStrict else { continue }
            let sent = try one.chain.map { try Certificate(der: $0.der) }
            var policy = SecurityPolicy.default
            policy.roots = .only(try one.roots.map { try TrustedCertificate(der: Data($0.der)) })
            let trust = URLServerTrust(
                PeerTrust(
                    name: try ServerName(one.host),
                    sent: sent,
                    verdict: .failure(TLSTrustFailure(reason: .other, code: 1)),
                    presented: PeerVerifier.linked(sent)
                )
            )
            #expect((policy.ground(trust) == nil) == (one.ground == nil), "\(one)")
        }
    }
}
