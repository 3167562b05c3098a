import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

@Suite("Client certificates", .timeLimit(.minutes(5)))
struct IdentityQuestionTests {
    private let localhost: TestCertificates.Identity
    private let client: TestCertificates.Identity

    init() throws {
        localhost = try TestCertificates.localhost
        client = try TestCertificates.client
    }

    private func server(_ version: TLSVersion = .v1_3) throws -> RawServer {
        var configuration = TLSServerConfiguration(localhost)
        configuration.clientCertificate = .required(Array(client.authorityPEM.utf8))
        configuration.maximumVersion = version
        let answer = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let script: RawScript = [
            .handshake(try TLSServerContext(configuration)), .receive(.headEnd), answer, .startOver,
        ]
        return try RawServer.start(otherwise: script)
    }

    private var credential: URLCredential {
        get throws {
            let identity = try URLClientIdentity(pem: Data((client.chainPEM + client.keyPEM).utf8))
            return URLCredential(identity: identity, persistence: .forSession)
        }
    }

    private typealias Reply = (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Trusts the server, and answers as told when it wants a certificate.
    private func recorder(_ answer: @escaping @Sendable (URLAuthenticationChallenge) -> Reply) -> Recorder {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            if let trust = challenge.protectionSpace.serverTrust {
                return (.useCredential, URLCredential(trust: trust))
            }
            return answer(challenge)
        }
        return Recorder(answers)
    }

    @Test(
        "the delegate is asked for an identity, hears which authorities the server accepts, and its answer is shown",
        arguments: [TLSVersion.v1_2, .v1_3]
    )
    func shown(version: TLSVersion) async throws {
        let server = try server(version)
        let credential = try credential
        let spaces = Mutex<[ProtectionSpaceValues]>([])
        let recorder = recorder { challenge in
            spaces.withLock { $0.append(challenge.protectionSpace.space) }
            return (.useCredential, credential)
        }
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server.secureURL("/")))
        #expect(data == Data("ok".utf8))
        let asked = spaces.withLock { $0 }
        #expect(asked.count == 1 && asked.first?.method == NSURLAuthenticationMethodClientCertificate)
        #expect(asked.first?.distinguishedNames?.count == 1 && asked.first?.port == Int(server.port))
    }

    @Test("default handling shows the identity that the credential storage has for the server")
    func stored() async throws {
        let server = try server()
        let configuration = URLSessionConfiguration.isolated
        let space = URLProtectionSpace.clientCertificates(for: server)
        configuration.urlCredentialStorage?.setDefaultCredential(try credential, for: space)
        let recorder = recorder {
            ($0.proposedCredential?.identity == nil ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        }
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server.secureURL("/")))
        #expect(data == Data("ok".utf8))
    }

    @Test(
        "a storage of the program's class is asked for the identity away from the session's loop",
        arguments: [true, false]
    )
    func subclass(hasDelegate: Bool) async throws {
        final class Vault: URLCredentialStorage, @unchecked Sendable {
            let isOnLoop = Sightings<Bool>()
            private let credential: URLCredential

            init(_ credential: URLCredential) {
                self.credential = credential
                super.init()
            }

            override func getDefaultCredential(
                for space: URLProtectionSpace,
                task: URLSessionTask,
                completionHandler: (URLCredential?) -> Void
            ) {
                isOnLoop.add(task.session?.home.isOnLoop ?? true)
                completionHandler(credential)
            }

            override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
                isOnLoop.add(true)
                return nil
            }
        }
        let server = try server()
        let storage = Vault(try credential)
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCredentialStorage = storage
        let recorder = recorder { _ in (.performDefaultHandling, nil) }
        let (ofSession, ofTask) = hasDelegate ? (recorder, nil) : (nil, recorder)
        let session = URLSession(configuration: configuration, delegate: ofSession, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server.secureURL("/")), delegate: ofTask)
        #expect(data == Data("ok".utf8))
        #expect(storage.isOnLoop.all == [false])
    }

    @Test(
        "a session without a delegate shows the stored identity, and one without stores shows none",
        arguments: [true, false]
    )
    func storedWithoutDelegate(hasStore: Bool) async throws {
        let server = try server()
        let configuration = URLSessionConfiguration.isolated
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace.clientCertificates(for: server)
        storage.setDefaultCredential(try credential, for: space)
        configuration.urlCredentialStorage = hasStore ? storage : nil
        let session = URLSession(configuration: configuration)
        let asked = Mutex<IdentityAnswer?>(nil)
        let request = IdentityRequest(name: try ServerName("localhost"), authorities: [])
        let origin = try Origin(scheme: .https, host: "localhost", port: server.port)
        let security = ClientSecurity(configuration, hasDelegate: false)
        ConnectionQuestion.choice(of: session)(request, origin, security) { answer, isStored in
            #expect(isStored)
            asked.withLock { $0 = answer }
        }
        let isShown = if case .show = asked.withLock({ $0 }) { true } else { false }
        #expect(isShown == hasStore)
    }

    @Test(
        "an identity that is missing or unusable is an error about the certificate, and a cancel is a cancel",
        arguments: 0..<3
    )
    func nothing(which: Int) async throws {
        let server = try server(.v1_2)
        let good = try credential
        let recorder = recorder { _ in
            switch which {
            case 0: return (.performDefaultHandling, nil)
            case 1:
                guard let identity = good.identity else { return (.performDefaultHandling, nil) }
                let broken = URLCredential(identity: identity, certificates: [Data([1])], persistence: .none)
                return (.useCredential, broken)
            default: return (.cancelAuthenticationChallenge, nil)
            }
        }
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        await #expect {
            try await session.data(from: try url(server.secureURL("/")))
        } throws: { error in
            let code = (error as? URLError)?.code
            return switch which {
            case 0: code == .secureConnectionFailed || code == .clientCertificateRequired
            case 1: code == .clientCertificateRejected
            default: code == .cancelled
            }
        }
    }

    @Test(
        "a challenge's sender can answer it, and a credential without trust does not make a server trusted",
        arguments: [true, false]
    )
    func sender(trusts: Bool) async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated, delegate: SenderDelegate(trusts), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let (_, response) = try await session.data(from: try url(server.url("/basic-auth/user/pass")))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let secure = try self.server()
        await #expect(throws: URLError.self) { try await session.data(from: try url(secure.secureURL("/"))) }
    }

    /// Answers through the challenge's sender alone.
    private final class SenderDelegate: NSObject, URLSessionTaskDelegate {
        private let trusts: Bool

        init(_ trusts: Bool) { self.trusts = trusts }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let credential = URLCredential(user: "user", password: "pass", persistence: .none)
            if challenge.protectionSpace.serverTrust != nil, !trusts {
                challenge.sender?.continueWithoutCredential(for: challenge)
            } else {
                challenge.sender?.use(credential, for: challenge)
            }
        }
    }
}
