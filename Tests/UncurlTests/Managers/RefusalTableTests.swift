import FacadeTestSupport
import Foundation
import Testing

@testable import Uncurl

@Suite("Refusals that a manager remembers")
struct RefusalTableTests {
    private func refusal(_ host: String) -> UncurlError { .invalidURL(host, reason: "refused") }

    private func space(_ host: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host,
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust
        )
    }

    @Test("of thousands of refused hosts the last are known, each with its own and newest refusal")
    func limit() {
        let core = ManagerCore(ManagerCore.Settings(), resourceLimit: 60)
        let error = URLError(.serverCertificateUntrusted)
        func known(_ host: String) -> String? {
            guard case .invalidURL(let name, _)? = core.refusal(behind: error, of: host) else { return nil }
            return name
        }
        for number in 0..<5_000 { core.note(refusal("h\(number)"), of: space("h\(number)")) }
        #expect((0..<5_000).count { known("h\($0)") != nil } == 64)
        #expect(known("h4999") == "h4999" && known("h4936") == "h4936" && known("h4935") == nil)
        // A newer refusal of the oldest host takes its place, and leaves no second row.
        core.note(refusal("again"), of: space("h4936"))
        core.note(refusal("new"), of: space("new"))
        #expect(known("h4936") == "again" && known("h4937") == nil && known("h4938") == "h4938")
        core.note(nil, of: space("h4936"))
        #expect(known("h4936") == nil && known("new") == "new")
    }
}
