import Foundation
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

/// Debian's `openssl verify` has no second try: on the first, ours must see what it sees.
@Suite("openssl verify", .ownThread)
struct VerifyToolTests {
    /// Two questions each; more with UNCURL_WORLDS.
    private static let worlds = ProcessInfo.processInfo.environment["UNCURL_WORLDS"].flatMap(Int.init) ?? 16

    @Test("what the tool accepts is accepted here, and what is refused here the tool refuses with the same number")
    func differential() throws {
        let keys = try RandomWorld.keys()
        let folder = try Folder()
        var agreed = 0
        for seed in 0..<Self.worlds {
            var random = SplitMix(seed: UInt64(900_000 + seed))
            let world = try RandomWorld(&random, keys: keys)
            for _ in 0..<2 {
                let question = world.question(&random)
                if question.anchors.isEmpty { continue }
                let told = try tool(world, question, folder)
                switch try world.verdict(question) {
                case .success:
                    // A second path.
                    if told != nil { #expect(world.isAcceptable(question)) }
                case .failure(let failure):
                    #expect(told == failure.code, "seed \(seed): \(question): \(failure)")
                    agreed += 1
                }
            }
        }
        #expect(agreed > Self.worlds / 2)
    }

    /// The number of the first error; nil for OK.
    private func tool(_ world: RandomWorld, _ question: RandomWorld.Question, _ folder: Folder) throws -> Int32? {
        let pem = { (made: [RandomWorld.Made]) in
            made.map { TestCertificate.pem($0.certificate.der, label: "CERTIFICATE") }.joined()
        }
        try folder.write("leaf.pem", pem([world.leaf]))
        try folder.write("sent.pem", pem(question.sent.map { world.authorities[$0] }))
        try folder.write("roots.pem", pem(question.anchors.map { world.authorities[$0] }))
        var arguments = [
            "verify", "-no-CApath", "-no-CAstore", "-CAfile", folder.path("roots.pem"), "-purpose", "sslserver",
            "-partial_chain", "-auth_level", "2", "-verify_depth", "16", "-verify_hostname", question.host, "-attime",
            "\(1_600_000_000 + question.day * 86_400 + 1)",
        ]
        if !question.sent.isEmpty { arguments += ["-untrusted", folder.path("sent.pem")] }
        let said = try OpenSSLTool.output(arguments + [folder.path("leaf.pem")])
        // "error 20 at 0 depth lookup: unable to get local issuer certificate"
        guard let line = said.split(separator: "\n").first(where: { $0.hasPrefix("error ") }) else {
            #expect(said.hasSuffix(": OK\n"))
            return nil
        }
        return Int32(line.split(separator: " ")[1])
    }
}
