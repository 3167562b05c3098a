import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import URLLoading

@Suite("Downloads without a descriptor to spare", .timeLimit(.minutes(5)))
struct DescriptorTests {
    @Test("a download without a free descriptor closes idle connections and is written")
    func download() async throws {
        // In a separate process, whose descriptors are limited.
        let server = try TestServer.start()
        defer { server.stop() }
        // Two hosts, and so two connections: the second is idle while the first one brings the download.
        let addresses = [server.url("/bytes/1000"), server.url("/bytes/1000", host: "localhost")]
        await #expect(processExitsWith: .success) { [addresses = addresses as [String]] in
            let session = URLSession(configuration: .ephemeral)
            let urls = addresses.map { URL(string: $0)! }
            for url in urls { _ = try await session.data(from: url) }
            // From the first download on, the process holds a descriptor for the folder of its files.
            _ = try await session.download(from: urls[0])
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { _exit(2) }
            while dup(0) >= 0 {}
            // Not an expectation that throws: reporting it would need descriptors.
            guard let (file, _) = try? await session.download(from: urls[0]) else { _exit(3) }
            _exit((try? Data(contentsOf: file))?.count == 1000 ? 0 : 4)
        }
    }

    @Test("downloads and uploads that find no descriptor wait for one, and leave sixteen to the process")
    func crowd() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        await #expect(processExitsWith: .success) {
            [download = server.url("/delay/0.1") as String, upload = server.url("/upload") as String] in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 100
            let session = URLSession(configuration: configuration)
            let path = NSTemporaryDirectory() + "crowd-\(UUID().uuidString)"
            try Data(repeating: 0x61, count: 100_000).write(to: URL(fileURLWithPath: path))
            _ = try await session.data(from: URL(string: download)!)
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { _exit(2) }
            let failures = await withTaskGroup(of: Int32.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        do {
                            if number % 2 == 0 {
                                _ = try await session.download(from: URL(string: download)!)
                            } else {
                                var request = URLRequest(url: URL(string: upload)!)
                                request.httpMethod = "POST"
                                _ = try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
                            }
                            let files = (0..<8).map { _ in open("/dev/null", O_RDONLY) }
                            for file in files where file >= 0 { close(file) }
                            return files.allSatisfy { $0 >= 0 } ? 0 : 1
                        } catch {
                            print(error)
                            return 100
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            unlink(path)
            _exit(failures == 0 ? 0 : failures >= 100 ? 3 : 4)
        }
    }

    @Test(
        "a download whose part cannot be opened now keeps it and fails with resume data, or closes a connection for it"
    )
    func resumed() async throws {
        let tag = "ETag: \"v1\"\r\n"
        let range = tag + "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n56789"
        let server = try RawServer.start(
            [[.receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\(tag)Content-Length: 10\r\n\r\n01234"), .finish]],
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 206 Partial Content\r\n" + range), .finish]
        )
        let other = try TestServer.start()
        defer { other.stop() }
        // The faults of a loop that only this test uses.
        await #expect(processExitsWith: .success) {
            [address = server.url("/file") as String, other = other.url("/bytes/10") as String] in
            let session = URLSession(configuration: .isolated)
            let (url, other) = (URL(string: address)!, URL(string: other)!)
            func failure(_ call: () async throws -> (URL, URLResponse)) async -> URLError? {
                do { _ = try await call() } catch { return error as? URLError }
                return nil
            }
            func fail(with errno: Errno) {
                session.post {
                    $0.loop.faults = FaultPlan(failures: [.init(call: 1, of: .openFile, with: errno)])
                }
            }
            guard let data = await failure({ try await session.download(from: url) })?.downloadTaskResumeData else {
                _exit(2)
            }
            fail(with: .accessDenied)
            let refused = await failure { try await session.download(resumeFrom: data) }
            guard refused?.code == .cannotOpenFile, let again = refused?.downloadTaskResumeData else { _exit(3) }
            session.post { $0.loop.faults = nil }
            guard (try? await session.data(from: other)) != nil else { _exit(4) }
            fail(with: .tooManyOpenFiles)
            guard let (file, _) = try? await session.download(resumeFrom: again) else { _exit(5) }
            _exit((try? Data(contentsOf: file)) == Data("0123456789".utf8) ? EXIT_SUCCESS : 6)
        }
        #expect(server.connections.count == 3)
        for index in 1..<3 {
            #expect(String(decoding: server.received(index), as: UTF8.self).contains("Range: bytes=5-\r\n"))
        }
    }

    @Test("a part that cannot be read is not taken for one that was changed")
    func verified() async throws {
        let folder = TemporaryFolder()
        try folder.make()
        folder.write(Array("01234".utf8), to: "part")
        await #expect(processExitsWith: .success) { [path = folder.path + "/part" as String] in
            let url = URL(string: "http://h.test/")!
            let data = ResumeData(
                request: URLRequest(url: url),
                validator: "\"v\"",
                path: path,
                received: 5,
                expected: 10
            )
            guard let all = Descriptors.taken() else { _exit(2) }
            do throws(Errno) {
                _ = try data.verified()
                _exit(3)
            } catch {
                guard error == .tooManyOpenFiles else { _exit(4) }
            }
            for descriptor in all { close(descriptor) }
            guard (try? data.verified()) != nil else { _exit(5) }
            unlink(path)
            _exit((try? data.verified()) == nil ? EXIT_SUCCESS : 6)
        }
    }
}
