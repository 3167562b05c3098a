import Foundation
import ScriptedPeer
import UncurlTLS
import UncurlTestServer

/// Four servers. Two answer as they are asked to. The other two play a script of faults on each connection, and one of
/// them is now and then stopped and started again on its port.
final class ChaosServers {
    let plain: TestServer
    let secure: TestServer
    let authority: String
    let faulty: FaultyServer
    let secureFaulty: FaultyServer
    private(set) var replaced = 0

    init(seed: UInt64) throws {
        let identity = try TestCertificates.localhost
        let tls = try TLSServerContext(TLSServerConfiguration(certificate: .init(identity)))
        plain = try TestServer.start(loops: 2)
        secure = try TestServer.start(tls: tls)
        authority = identity.authorityPEM
        faulty = try FaultyServer(seed: seed, tls: nil)
        secureFaulty = try FaultyServer(seed: seed &+ 1, tls: tls)
    }

    /// Stops one faulty server, which cuts its connections, and starts it again. Until then connections are refused.
    func replaceOne() {
        (replaced % 2 == 0 ? faulty : secureFaulty).replace()
        replaced += 1
    }

    func stop() {
        plain.stop()
        secure.stop()
        faulty.stop()
        secureFaulty.stop()
    }
}

/// A server of scripts that can be stopped and started again.
final class FaultyServer {
    private var server: RawServer
    private var dice: Dice
    private let tls: TLSServerContext?

    init(seed: UInt64, tls: TLSServerContext?) throws {
        dice = Dice(seed: seed)
        self.tls = tls
        server = try RawServer.start(Self.scripts(&dice, tls), otherwise: .silent)
    }

    func url() -> String { tls == nil ? server.url("") : server.secureURL("") }

    func replace() {
        let address = server.address
        server.stop()
        // If another program has taken the port, requests fail: the tasks must bear that too.
        if let next = try? RawServer.start(address: address, Self.scripts(&dice, tls), otherwise: .silent) {
            server = next
        }
    }

    func stop() { server.stop() }

    private static func scripts(_ dice: inout Dice, _ tls: TLSServerContext?) -> [RawScript] {
        (0..<200).map { _ in
            let script = FaultScripts.random(&dice)
            return tls.map { script.secured(by: $0) } ?? script
        }
    }
}
