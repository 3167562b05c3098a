import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// Streams whose server speaks first, with the last octets of what is before the stream.
@Suite("Greetings", .ownThread, .timeLimit(.minutes(5)))
struct GreetingTests {
    private let granted: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 4, 56]

    /// What is heard on a stream to `origin` until its server has ended it.
    private func hear(_ origin: Origin, _ configuration: EngineConfiguration) async throws -> Speaker.Heard {
        let engine = try EngineHarness(configuration)
        let speaker = Speaker()
        let opened = Word<EngineError?>()
        engine.handle.post { engine in
            engine.open(origin) { result in
                switch result {
                case .success(let connection):
                    connection.start(speaker)
                    connection.finishWriting(keepsReading: true)
                    opened.give(nil)
                case .failure(let error): opened.give(error)
                }
            }
        }
        try #require(await opened.wait("the stream") == .some(.none))
        await speaker.closes.reaches(1)
        return speaker.heard
    }

    @Test("what comes with the answer of a proxy is the first of the stream", arguments: [Proxy.Kind.http, .socks5h])
    func behindProxies(kind: Proxy.Kind) async throws {
        let script: RawScript =
            switch kind {
            case .http, .https: [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n* OK\r\n"), .finish]
            case .socks5, .socks5h:
                [
                    .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(19)), .send(granted + bytes("* OK\r\n")),
                    .finish,
                ]
            }
        let proxy = try RawServer.start([script])
        var configuration = EngineConfiguration()
        configuration.proxies = OriginProxies(try Proxy(url: "\(kind.rawValue)://127.0.0.1:\(proxy.port)"))
        let heard = try await hear(Origin(host: "imap.example", port: 143), configuration)
        #expect(heard.text == "* OK\r\n" && heard.closed == [nil])
    }

    @Test("what comes with the last flight of a handshake is the first of the stream, and so is its end")
    func behindHandshakes() async throws {
        let identity = try TestCertificates.localhost
        var trust = TLSConfiguration()
        trust.roots = .pem(identity.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(trust)
        for closes in [false, true] {
            let server = try Greeter("* OK\r\n", identity, closes: closes)
            let origin = try Origin(scheme: .https, host: "127.0.0.1", port: server.port)
            let heard = try await hear(origin, configuration)
            let end: EngineError? = closes ? nil : .tls(.truncated)
            #expect(heard.text == "* OK\r\n" && heard.closed == [end])
            withExtendedLifetime(server) {}
        }
    }
}

/// A server of TLS 1.2 that sends its greeting in one write with the last flight of the handshake, and ends.
private final class Greeter: Sendable {
    private let group: EventLoopGroup
    let port: UInt16

    /// - Parameter closes: whether a close_notify is before the end.
    init(_ greeting: String, _ identity: TestCertificates.Identity, closes: Bool) throws {
        var configuration = TLSServerConfiguration(identity)
        configuration.maximumVersion = .v1_2
        let context = try TLSServerContext(configuration)
        group = try EventLoopGroup(count: 1, name: "greeter")
        let loop = group.loops[0]
        let bound = Mutex<UInt16?>(nil)
        let isListening = Gate()
        loop.post {
            let listener = try? Listener(on: loop, at: .loopback()) { socket in
                try? Greeting(greeting, context, closes, socket, loop).start()
            }
            bound.withLock { $0 = listener?.address.port }
            isListening.open()
        }
        isListening.wait()
        let port = bound.withLock { $0 }
        self.port = try #require(port)
    }

    deinit { group.shutdown() }

    /// One connection. The loop holds it.
    private final class Greeting: ReadinessHandler {
        private let greeting: String
        private let closes: Bool
        private let socket: Socket
        private let loop: EventLoop
        private let session: TLSSession
        private let output = CiphertextBuffer()
        private var token: Token?
        private var isDone = false

        init(
            _ greeting: String,
            _ context: TLSServerContext,
            _ closes: Bool,
            _ socket: consuming Socket,
            _ loop: EventLoop
        ) throws {
            (self.greeting, self.closes, self.loop) = (greeting, closes, loop)
            session = try TLSSession(server: context, output: output)
            self.socket = socket
        }

        func start() throws { token = try loop.register(socket.number, .read, self) }

        func ready(_ readiness: Readiness) {
            switch try? socket.read(into: loop.readBuffer) {
            case .bytes(let count): loop.readBuffer.withBytes(count) { shake($0) }
            case .wouldBlock: break
            case .endOfStream, nil: if let token { loop.deregister(token) }
            }
        }

        private func shake(_ input: Span<UInt8>) {
            var offset = 0
            guard !isDone, let step = try? session.handshake(input, from: &offset) else { return }
            if case .done = step { isDone = true }
            if isDone { _ = try? session.write(Array(greeting.utf8).span) }
            if isDone, closes { session.close() }
            _ = try? socket.write(output.take().span)
            if isDone { socket.shutdownWrite() }
        }
    }
}
