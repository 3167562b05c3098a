import FacadeTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlSemantics
import UncurlTestServer

@testable import URLLoading

/// Files of each store, cut at every octet, with bits flipped and pieces moved, and opened by their store. What it
/// reads is what was written, or nothing. `tools/chaos stores` does the same many times more.
@Suite("Stores on damaged files", .ownThread, .timeLimit(.minutes(60)))
struct StoreDamageTests {
    /// As many damaged files as the run is to try: cut at places all over it first, then changed at random.
    private func damaged(_ whole: [UInt8], other: [UInt8] = [], _ body: ([UInt8]) async throws -> Void) async throws {
        let count = DamageCount.mutations
        var mutator = Mutator(seed: DamageCount.seed)
        var random = SplitMix(seed: DamageCount.seed)
        for length in stride(from: 0, to: whole.count, by: max(1, whole.count * 2 / count)) {
            try await body(Array(whole.prefix(length)))
        }
        for number in 0..<count {
            // A third is spliced with another file of the kind.
            if number % 3 == 0, !other.isEmpty {
                let place = random.below(whole.count)
                try await body(Array(whole[..<place]) + other.dropFirst(random.below(other.count)))
            } else {
                try await body(mutator.change(whole))
            }
        }
    }

    private func fileNames(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
            .filter { !FileManager.default.isDirectory($0) }
    }

    private func octets(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ octets: [UInt8], _ path: String) throws {
        try Data(octets).write(to: URL(fileURLWithPath: path))
    }

    @Test("a cache with a damaged file answers with what was stored under the URL, or not at all")
    func cache() async throws {
        let folder = try TemporaryFolder()
        func request(_ name: String) throws -> URLRequest {
            URLRequest(url: try #require(URL(string: "http://a.test/\(name)")))
        }
        func content(_ name: String) -> Data { Data(String(repeating: "content of \(name). ", count: 20).utf8) }
        func open() -> URLCache {
            URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: URL(fileURLWithPath: folder.url.path))
        }
        var (files, paths): ([[UInt8]], [String]) = ([], [])
        for name in ["one", "two"] {
            let (cache, request) = (open(), try request(name))
            let fields = ["Cache-Control": "max-age=1000", "ETag": "\"\(name)\""]
            let url = try #require(request.url)
            let answer = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
            )
            cache.storeCachedResponse(CachedURLResponse(response: answer, data: content(name)), for: request)
            #expect(cache.currentDiskUsage > 0)
            let file = try #require(fileNames(folder.url.path).first)
            files.append(try octets(file))
            try FileManager.default.removeItem(atPath: file)
            paths.append(file)
        }
        let path = paths[0]
        try await damaged(files[0], other: files[1]) { file in
            try write(file, path)
            let found = open().cachedResponse(for: try request("one"))
            #expect(found == nil || found?.data == content("one"))
            let tag = (found?.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag")
            #expect(tag == nil || tag == "\"one\"")
            #expect(open().cachedResponse(for: try request("two")) == nil)
        }
        try write(files[0], path)
        #expect(open().cachedResponse(for: try request("one"))?.data == content("one"))
    }

    @Test("a store of cookies with a damaged file has the cookies that were kept, or none")
    func cookies() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path + "/cookies"
        func entries(_ name: String) -> [CookieJar.Entry] {
            (0..<4).map { number in
                var cookie = Cookie(
                    name: "\(name)\(number)",
                    value: "v\(number)",
                    domain: "a.test",
                    isHostOnly: true,
                    path: "/"
                )
                cookie.expires = 4_000_000_000
                return CookieJar.Entry(cookie: cookie, creation: 1, lastAccess: 2)
            }
        }
        let files = try ["one", "two"].map { try #require(StoreRecord.file(.cookies, of: entries($0))) }
        let kept = Set(entries("one").map(\.cookie.name))
        let reports = Mutex(0)
        func read() -> Set<String> {
            let store = CookieStore(file: CookieFile(path: path)) { _ in reports.withLock { $0 += 1 } }
            return Set(store.all().map(\.cookie.name))
        }
        try await damaged(files[0], other: files[1]) { file in
            try write(file, path)
            let found = read()
            #expect(found.isEmpty || found == kept || file == files[1])
            for name in try fileNames(folder.url.path) { try FileManager.default.removeItem(atPath: name) }
        }
        #expect(reports.withLock { $0 } > 0)
        try write(files[0], path)
        #expect(read() == kept)
    }

    @Test("a store of credentials with a damaged file has the credentials that were kept, or none")
    func credentials() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path + "/credentials"
        func table(_ user: String) -> CredentialTable {
            var table = CredentialTable()
            for number in 0..<3 {
                let space = ProtectionSpaceValues(
                    host: "h\(number)",
                    port: 80,
                    side: .server("http"),
                    realm: "r",
                    method: nil
                )
                let proof = Credential.Proof.password(user: user, password: "p\(number)")
                _ = table.setDefault(Credential(proof: proof, persistence: .permanent), for: space)
            }
            return table
        }
        let files = try ["alice", "bob"].map { try #require(StoreRecord.file(.credentials, of: table($0))) }
        let reports = Mutex(0)
        func read() -> [ProtectionSpaceValues: [String: Credential]] {
            let store = CredentialStore(file: CredentialFile(path: path)) { _ in reports.withLock { $0 += 1 } }
            return store.all()
        }
        try write(files[0], path)
        let kept = read()
        #expect(kept.count == 3)
        try await damaged(files[0], other: files[1]) { file in
            try write(file, path)
            let found = read()
            let isKept = found.keys == kept.keys && found.values.allSatisfy { Array($0.keys) == ["alice"] }
            #expect(found.isEmpty || isKept || file == files[1])
            for name in try fileNames(folder.url.path) { try FileManager.default.removeItem(atPath: name) }
        }
        #expect(reports.withLock { $0 } > 0)
    }

    @Test(
        "a background session's folder with a damaged record has what was written, or says that it is damaged"
    )
    func journal() async throws {
        let base = try TemporaryFolder()
        func record(_ path: String) throws -> BackgroundRecord {
            let request = URLRequest(url: try #require(URL(string: "http://a.test/\(path)")))
            return BackgroundRecord(
                number: 1,
                request: request,
                priority: 0.5,
                expectsToSend: -1,
                expectsToReceive: -1
            )
        }
        let folder = try BackgroundFolder(for: "damage", in: base.url.path)
        try folder.write([record("one")], isDurable: true)
        let path = try #require(fileNames(folder.path).first { $0.hasSuffix(".task") })
        let (whole, other) = (try octets(path), try #require(record("two").encoded()))
        folder.unlock()
        try await damaged(whole, other: other) { file in
            try write(file, path)
            let folder = try BackgroundFolder(for: "damage", in: base.url.path)
            let contents = try folder.contents()
            #expect(contents.damaged == [1] || contents.records.count == 1)
            for record in contents.records {
                #expect(file == other || record.request.url?.path == "/one" && record.encoded() == whole)
            }
        }
        folder.unlock()
    }

    @Test("a download resumed from damaged resume data, or from a damaged file, delivers the whole content or fails")
    func resumeData() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: server.url("/range/40000")))
        let (whole, head) = try await session.data(from: url)
        let tag = try #require((head as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag"))
        let (part, received) = (StoreFile.newPart(in: NSTemporaryDirectory()), 9_999)
        defer { unlink(part) }
        let known = ResumeData(
            request: URLRequest(url: url),
            validator: tag,
            path: part,
            received: Int64(received),
            expected: 40_000
        )
        try await damaged(Array(try #require(known.data))) { octets in
            try write(Array(whole.prefix(received)), part)
            guard let (file, answer) = try? await session.download(resumeFrom: Data(octets)) else { return }
            let status = (answer as? HTTPURLResponse)?.statusCode
            guard status == 200 || status == 206, let asked = answer.url, asked.path.hasPrefix("/range/") else {
                return
            }
            let length = Int(asked.lastPathComponent) ?? 0
            let content = try Data(contentsOf: file)
            #expect(content.count == length && content.prefix(40_000) == whole.prefix(length), "\(asked)")
            try FileManager.default.removeItem(at: file)
        }
        session.invalidateAndCancel()
    }
}

extension FileManager {
    fileprivate func isDirectory(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
