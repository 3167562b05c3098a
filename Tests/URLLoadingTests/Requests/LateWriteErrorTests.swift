import Foundation
import ScriptedPeer
import Testing
import UncurlReactor

@testable import URLLoading

@Suite("Errors of writing that a disk tells late", .timeLimit(.minutes(5)))
struct LateWriteErrorTests {
    @Test("a download whose disk tells at the end that it has not all of it fails, leaves no file and no resume data")
    func download() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n"
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(head + "0123456789"), .finish])
        let folder = TemporaryFolder()
        try folder.make()
        // The faults of a loop that only this test uses, and a temporary folder of its own.
        await #expect(processExitsWith: .success) {
            [address = server.url("/file") as String, folder = folder.path as String] in
            setenv("TMPDIR", folder, 1)
            let session = URLSession(configuration: .isolated)
            // The first call writes the content.
            session.post {
                $0.loop.faults = FaultPlan(failures: [.init(call: 2, of: .writeFile, with: Errno(code: EDQUOT))])
            }
            do {
                _ = try await session.download(from: URL(string: address)!)
                _exit(2)
            } catch {
                let error = error as? URLError
                _exit(error?.code == .cannotWriteToFile && error?.downloadTaskResumeData == nil ? EXIT_SUCCESS : 3)
            }
        }
        #expect(folder.names.isEmpty)
    }
}
