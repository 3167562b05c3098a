import Foundation
import TestSupport
import Testing
import UncurlTestServer

@Suite("Lazy start", .ownThread, .timeLimit(.minutes(5)))
struct LateStartTests {
    /// Runs a request in a process whose OpenSSL has a pipe for its configuration: who reads that is noticed, and has to wait until that
    /// has been told.
    private func request(_ url: String) throws -> String {
        let folder = TemporaryFolder()
        try folder.make()
        defer { withExtendedLifetime(folder) {} }
        let pipe = "\(folder.path)/configuration"
        let ended = try EndedProgram(
            shell: """
                mkfifo \(pipe); { echo opened >&3; } 3>&1 > \(pipe) & writer=$!
                OPENSSL_CONF=\(pipe) no_proxy='*' timeout 60 \(EndedProgram.built("OneRequest")) \(url)
                kill $writer 2> /dev/null; wait
                """
        )
        return ended.out
    }

    @Test("OpenSSL, which takes milliseconds to start, starts with the first https request")
    func openSSL() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        #expect(try request(server.url("/bytes/7")) == "200 7\n")
        let secure = try request("https://127.0.0.1:1/")
        #expect(secure.hasPrefix("opened\n"), "\(secure)")
    }
}
