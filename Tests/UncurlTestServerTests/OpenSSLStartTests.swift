import Glibc
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// What a process does first with OpenSSL decides whether OpenSSL takes itself down at `exit`, under the threads that
/// go on.
@Suite("OpenSSL's start", .ownThread, .timeLimit(.minutes(5)))
struct OpenSSLStartTests {
    private enum First: Int, CaseIterable, Sendable {
        case key, certificate, hash, identity

        func happen() {
            switch self {
            case .key: _ = try? TestKey()
            case .certificate: _ = try? Certificate(der: [0x30])
            case .hash: _ = MessageDigest.md5.hash([1].span)
            case .identity: _ = try? ClientIdentity(pkcs12: [0x30], password: nil)
            }
        }
    }

    @Test(
        "OpenSSL works until the process ends, whichever part initializes it first",
        arguments: First.allCases.map(\.rawValue)
    )
    func exit(first: Int) async {
        await #expect(processExitsWith: .exitCode(3)) { [first = first as Int] in
            // Called last, as it was registered first.
            atexit { _exit(MessageDigest.sha256.hash([1].span) == nil ? 4 : 3) }
            First(rawValue: first)?.happen()
            Glibc.exit(0)
        }
    }
}
