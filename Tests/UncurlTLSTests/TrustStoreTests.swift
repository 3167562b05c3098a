import Foundation
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

@Suite("TrustStore", .ownThread)
struct TrustStoreTests {
    let folder: Folder
    let root: TestCertificate
    let leaf: Certificate

    init() throws {
        folder = try Folder()
        root = try CertificateBuilder.authority("Root").selfSigned()
        leaf = try Certificate(der: CertificateBuilder.server(["DNS:a.test"]).issued(by: root).der)
    }

    private func verdict(_ store: TrustStore) throws -> String? {
        let anchors = try #require(store.anchors)
        return PeerVerifier.verify([leaf], name: try ServerName("a.test"), anchors: anchors).ground
    }

    @Test("there is one store for each set of roots in a process, as long as it is held")
    func shared() {
        let first = TrustStore.shared(.file("/nowhere/one"))
        #expect(TrustStore.shared(.file("/nowhere/one")) === first)
        #expect(TrustStore.shared(.file("/nowhere/two")) !== first)
        #expect(!first.isLoaded && first.failure == nil)
    }

    @Test("nothing is read before load, and a failure names every path and why")
    func failure() throws {
        let store = TrustStore(.file(folder.path("none.pem")), surroundings: .init())
        #expect(store.failure == nil)
        store.load()
        let failure = try #require(store.failure)
        #expect(failure.attempts == ["\(folder.path("none.pem")): No such file or directory"])
        #expect(!store.isLoaded)
        try folder.write("none.pem", root.pem)
        store.load()
        #expect(store.isLoaded && store.failure == nil)
    }

    @Test("a file that the caller names must hold certificates, each of them readable")
    func strictFiles() throws {
        let damaged = root.pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for (text, reason) in [("no certificate here", "there is no certificate in it"), (damaged, "cannot be read")] {
            try folder.write("roots.pem", text)
            let store = TrustStore(.file(folder.path("roots.pem")), surroundings: .init())
            guard case .failure(let error) = store.load() else {
                Issue.record("loaded: \(text)")
                continue
            }
            #expect(error.description.contains(reason) && error.description.contains(folder.path("roots.pem")))
        }
        #expect(throws: TrustStoreError.self) { try TrustStore(.pem("nothing"), surroundings: .init()).load().get() }
    }

    @Test("one damaged certificate does not cost a system its other roots")
    func forgivingSystem() throws {
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + root.pem
        try folder.write("bundle.pem", damaged)
        let store = TrustStore(.system, surroundings: .init(files: [folder.path("bundle.pem")], directories: []))
        #expect(try store.load().get().count == 1)
        #expect(try verdict(store) == nil)
    }

    @Test("the first place that has certificates is the system's, and all are named if none has")
    func discovery() throws {
        try folder.write("empty.pem", "")
        try folder.write("second.pem", root.pem)
        let paths = ["none.pem", "empty.pem", "second.pem", "third.pem"].map(folder.path)
        let store = TrustStore(.system, surroundings: .init(files: paths, directories: []))
        #expect(try store.load().get().count == 1)
        let none = TrustStore(
            .system,
            surroundings: .init(files: Array(paths.prefix(2)), directories: [folder.path("nowhere")])
        )
        none.load()
        let tried = Array(paths.prefix(2)) + [folder.path("nowhere")]
        #expect(none.failure?.attempts.count == tried.count)
        for (attempt, path) in zip(none.failure?.attempts ?? [], tried) { #expect(attempt.hasPrefix(path + ": ")) }
    }

    @Test("SSL_CERT_FILE replaces the system's files, and SSL_CERT_DIR all of the system's, as with OpenSSL")
    func environment() throws {
        try folder.write("bundle.pem", try CertificateBuilder.authority("Bundle").selfSigned().pem)
        try folder.write("mine.pem", root.pem)
        try folder.write("one/root.crt", root.pem)
        var surroundings = TrustLoader.Surroundings(files: [folder.path("bundle.pem")], directories: [])
        surroundings.certificateFile = folder.path("mine.pem")
        let file = TrustStore(.system, surroundings: surroundings)
        #expect(try file.load().get().count == 1)
        #expect(try verdict(file) == nil)
        try folder.write("system/other.crt", try CertificateBuilder.authority("Other").selfSigned().pem)
        surroundings.directories = [folder.path("system")]
        #expect(try TrustStore(.system, surroundings: surroundings).load().get().count == 2)
        surroundings.certificateFile = nil
        #expect(try TrustStore(.system, surroundings: surroundings).load().get().count == 1)
        surroundings.certificateDirectories = "\(folder.path("nowhere")):\(folder.path("one"))"
        let directories = TrustStore(.system, surroundings: surroundings)
        #expect(try directories.load().get().count == 1)
        #expect(try verdict(directories) == nil)
        surroundings.certificateFile = folder.path("bundle.pem")
        let both = TrustStore(.system, surroundings: surroundings)
        #expect(try both.load().get().count == 2)
        surroundings.certificateFile = folder.path("nowhere.pem")
        surroundings.certificateDirectories = nil
        surroundings.directories = []
        let wrong = TrustStore(.system, surroundings: surroundings)
        wrong.load()
        #expect(wrong.failure?.attempts.count == 1)
        #expect(wrong.failure?.attempts.first?.hasPrefix(folder.path("nowhere.pem") + ": ") == true)
    }

    @Test("of a directory that openssl rehash has been through, only its links count; of another, its certificates")
    func directories() throws {
        let other = try CertificateBuilder.authority("Other").selfSigned()
        try folder.write("plain/a.pem", root.pem)
        try folder.write("plain/key.txt", other.pem)
        #expect(try TrustStore(.directory(folder.path("plain")), surroundings: .init()).load().get().count == 1)
        try folder.write("hashed/0123abcd.0", root.pem)
        try folder.write("hashed/0123abcd.r0", "a revocation list")
        try folder.write("hashed/left-out.pem", other.pem)
        #expect(try TrustStore(.directory(folder.path("hashed")), surroundings: .init()).load().get().count == 1)
        try folder.write("none/readme", "")
        #expect(throws: TrustStoreError.self) {
            try TrustStore(.directory(folder.path("none")), surroundings: .init()).load().get()
        }
    }

    @Test("roots add up, and the same one twice counts once")
    func sums() throws {
        let other = try CertificateBuilder.authority("Other").selfSigned()
        try folder.write("root.pem", root.pem + root.pem)
        let roots = TrustRoots.file(folder.path("root.pem")) + .pem(other.pem) + .pem(root.pem)
        #expect(try TrustStore(roots, surroundings: .init()).load().get().count == 2)
    }

    @Test("no roots at all are loaded without error, and no server is trusted")
    func nobody() throws {
        let store = TrustStore(TrustRoots([]), surroundings: .init())
        #expect(try store.load().get().count == 0)
        #expect(try verdict(store) == "incompleteChain")
    }

    @Test("a file that changed is read again, when one caller has claimed the look; a broken one changes nothing")
    func refresh() throws {
        try folder.write("roots.pem", try CertificateBuilder.authority("Old").selfSigned().pem)
        let store = TrustStore(.file(folder.path("roots.pem")), surroundings: .init())
        store.load()
        #expect(try verdict(store) == "incompleteChain")
        #expect(!store.refresh())
        let later = ContinuousClock.now + TrustStore.refreshInterval
        #expect(!store.claimRefresh())
        #expect(store.claimRefresh(now: later))
        #expect(!store.claimRefresh(now: later))
        try folder.write("roots.pem", "being replaced")
        #expect(!store.refresh() && store.isLoaded && store.failure == nil)
        try folder.write("roots.pem", root.pem)
        #expect(store.refresh())
        #expect(try verdict(store) == nil)
    }

    @Test("a root that its file marks as rejected for servers is no root for them")
    func rejected() throws {
        try folder.write("root.pem", root.pem)
        let arguments = [
            "x509", "-in", folder.path("root.pem"), "-addreject", "serverAuth", "-out", folder.path("no.pem"),
        ]
        #expect(try OpenSSLTool.run(arguments) == 0)
        let store = TrustStore(.file(folder.path("no.pem")), surroundings: .init())
        store.load()
        #expect(try verdict(store) == "distrusted")
    }

    @Test("a file that changed within a directory is noticed")
    func refreshDirectory() throws {
        try folder.write("roots/a.pem", try CertificateBuilder.authority("Old").selfSigned().pem)
        let store = TrustStore(.directory(folder.path("roots")), surroundings: .init())
        store.load()
        #expect(!store.refresh())
        try folder.write("roots/a.pem", root.pem + "\n")
        #expect(store.refresh())
        #expect(try verdict(store) == nil)
    }

    @Test("files that cannot be read for the moment fail the whole load, and leave the roots of an earlier one")
    func forTheMoment() throws {
        try folder.write("roots/a.pem", root.pem)
        try FileManager.default.createDirectory(atPath: folder.path("roots/b.pem"), withIntermediateDirectories: false)
        let directory = TrustStore(.directory(folder.path("roots")), surroundings: .init())
        var surroundings = TrustLoader.Surroundings(files: [], directories: [])
        surroundings.certificateDirectories = folder.path("roots")
        let system = TrustStore(.system, surroundings: surroundings)
        #expect(try directory.load().get().count == 1)
        // Its first octet cannot be read: EIO.
        let link = folder.path("roots/c.pem")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/self/mem")
        #expect(!directory.refresh())
        #expect(try verdict(directory) == nil)
        system.load()
        #expect(system.failure?.attempts == ["\(link): Input/output error"])
        try folder.write("roots/d.pem", try CertificateBuilder.authority("Other").selfSigned().pem)
        #expect(!directory.refresh())
        try FileManager.default.removeItem(atPath: link)
        #expect(try system.load().get().count == 2)
        #expect(directory.refresh())
        #expect(directory.anchors?.count == 2)
    }

    @Test(
        "this system's roots are found",
        .enabled(if: TrustLoader.Surroundings().files.contains { fileState($0) != nil })
    )
    func thisSystem() throws {
        #expect(try TrustStore(.system, surroundings: .init()).load().get().count > 50)
    }

    @Test("threads that load at once get the same roots")
    func threads() throws {
        try folder.write("roots.pem", root.pem)
        let store = TrustStore(.file(folder.path("roots.pem")), surroundings: .init())
        DispatchQueue.concurrentPerform(iterations: 8) { _ in store.load() }
        let anchors = try #require(store.anchors)
        store.load()
        #expect(store.anchors === anchors)
    }
}

/// A folder of a test's own, gone with it.
final class Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-trust-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }
}
