import Foundation
import TestServer
import Testing
import URLLoading

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
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { _exit(2) }
            while dup(0) >= 0 {}
            // Not an expectation that throws: reporting it would need descriptors.
            guard let (file, _) = try? await session.download(from: urls[0]) else { _exit(3) }
            _exit((try? Data(contentsOf: file))?.count == 1000 ? 0 : 4)
        }
    }
}
