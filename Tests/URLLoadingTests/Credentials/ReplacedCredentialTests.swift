import Foundation
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// What sessions do with a credential that their storage had, and has no longer.
@Suite("Credentials that are replaced or removed", .timeLimit(.minutes(10)))
struct ReplacedCredentialTests {
    private func user(_ password: String) -> URLCredential {
        URLCredential(user: "user", password: password, persistence: .forSession)
    }

    private func status(_ session: URLSession, _ address: String) async -> Int {
        let request = (try? url(address)).map { URLRequest(url: $0) }
        guard let request, let (_, response) = try? await session.data(for: request, delegate: nil) else { return 0 }
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    /// The steps that every kind takes: used, replaced, used again, removed.
    private func check(
        _ storage: URLCredentialStorage,
        _ space: URLProtectionSpace,
        refusal: Int,
        _ load: () async -> Int
    ) async {
        storage.setDefaultCredential(user("secret"), for: space)
        for _ in 0..<2 { #expect(await load() == 200) }
        storage.setDefaultCredential(user("wrong"), for: space)
        #expect(await load() == refusal)
        storage.set(user("secret"), for: space)
        #expect(await load() == 200)
        storage.remove(user("secret"), for: space)
        #expect(await load() == refusal)
    }

    @Test(
        "a name and a password that were replaced, or removed, are not sent to a server again",
        arguments: [
            (NSURLAuthenticationMethodHTTPBasic, "basic-auth"),
            (NSURLAuthenticationMethodHTTPDigest, "digest-auth/auth"),
        ]
    )
    func server(method: String, path: String) async throws {
        let server = try TestServer.start()
        let address = server.url("/\(path)/user/secret")
        let configuration = URLSessionConfiguration.isolated
        let storage = URLCredentialStorage()
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let place = try url(address)
        let space = URLProtectionSpace(
            host: place.host ?? "",
            port: place.port ?? 0,
            protocol: "http",
            realm: "Fake Realm",
            authenticationMethod: method
        )
        await check(storage, space, refusal: 401) { await status(session, address) }
    }

    @Test(
        "a proxy's user that was replaced, or removed, is not used again, for a tunnel that is open neither",
        arguments: [false, true]
    )
    func proxy(isTunnel: Bool) async throws {
        final class Trusting: NSObject, URLSessionDelegate {
            func urlSession(
                _ session: URLSession,
                didReceive challenge: URLAuthenticationChallenge
            ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
                let trust = challenge.protectionSpace.serverTrust
                return trust.map { (.useCredential, URLCredential(trust: $0)) } ?? (.performDefaultHandling, nil)
            }
        }
        let identity = try TestCertificates.localhost
        let server =
            isTunnel
            ? try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity))) : try TestServer.start()
        let proxy = try await ProxyPeers.squid(.basic)
        defer { proxy.stop() }
        let (host, port) = ("127.0.0.1", Int(proxy.port))
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
            "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
        ]
        let storage = URLCredentialStorage()
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration, delegate: Trusting(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let space = URLProtectionSpace(
            proxyHost: host,
            port: port,
            type: isTunnel ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
            realm: "squid",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        await check(storage, space, refusal: 0) { await status(session, server.url("/bytes/3")) }
    }
}
