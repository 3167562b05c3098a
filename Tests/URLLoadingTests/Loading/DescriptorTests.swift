import Foundation
import TestServer
import Testing
import URLLoading

@Suite("Downloads without a descriptor to spare", .timeLimit(.minutes(2)))
struct DescriptorTests {
    @Test("a download is written where idle connections held the last descriptors: they are given up first")
    func download() async throws {
        // In another process: its descriptors are not counted.
        let server = try TestServer.start()
        defer { server.stop() }
        let address = server.url("/bytes/1000")
        await #expect(processExitsWith: .success) { [address = address as String] in
            let session = URLSession(configuration: .ephemeral)
            let url = URL(string: address)!
            async let first = session.data(from: url)
            async let second = session.data(from: url)
            _ = try await (first, second)
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { _exit(2) }
            while dup(0) >= 0 {}
            // Not thrown on: telling of it would want descriptors.
            guard let (file, _) = try? await session.download(from: url) else { _exit(3) }
            _exit((try? Data(contentsOf: file))?.count == 1000 ? 0 : 4)
        }
    }
}
