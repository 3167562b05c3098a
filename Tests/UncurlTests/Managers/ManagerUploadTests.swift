import FacadeTestSupport
import Foundation
import TestServer
import TestSupport
import Testing
import Uncurl

@Suite("Upload tasks of a session manager", .timeLimit(.minutes(5)))
struct ManagerUploadTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func post(_ path: String) -> URLRequest {
        var request = URLRequest(url: server.location(path))
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    private func ended<Value: Sendable>(
        _ make: (@escaping @Sendable (Response<Value>) -> Void) -> URLSessionTask
    ) async -> Response<Value> {
        await withCheckedContinuation { continuation in
            make { continuation.resume(returning: $0) }.resume()
        }
    }

    @Test(
        "uploads of data, of a file and of a stream are made suspended, each with a delegate, and send all of it",
        .rows("U10")
    )
    func uploads() async throws {
        let manager = URLSessionManager(configuration: .isolated)
        let content = Data("content".utf8)
        let file = TemporaryFile(Array(content))
        let bodies: [UploadBody] = [
            .data(content), .file(URL(fileURLWithPath: file.path)), .stream { InputStream(data: content) },
        ]
        for body in bodies {
            let response: Response<JSONValue> = await ended { done in
                let task = manager.uploadTask(with: post("/anything"), from: body, serializer: .json, completion: done)
                #expect(task.state == .suspended)
                #expect(manager.delegate(for: task) is UploadTaskDelegate)
                return task
            }
            #expect(response.value?["data"] == "content", "\(response)")
        }
    }

    @Test("an upload of a file that is missing is a task all the same, and ends with the file's error", .rows("U10"))
    func missingUpload() async {
        let manager = URLSessionManager(configuration: .isolated)
        let missing = UploadBody.file(URL(fileURLWithPath: "/nonexistent/file"))
        let response: Response<Data> = await ended { done in
            manager.uploadTask(with: post("/anything"), from: missing, serializer: .data, completion: done)
        }
        #expect(response.error?.urlError?.code == .fileDoesNotExist, "\(response)")
        #expect(manager.tasks.isEmpty)
    }

    @Test("an upload's progress counts the bytes that the socket took, up to all of them", .rows("U20", "U21", "A4"))
    func uploadProgress() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<TransferProgress>()
        let response: Response<Data> = await ended { done in
            manager.uploadTask(
                with: post("/upload"),
                from: .data(Data(repeating: 7, count: 500_000)),
                serializer: .data,
                progress: { log.add($0) },
                completion: done
            )
        }
        #expect(response.statusCode == 200)
        #expect(log.entries.last == TransferProgress(completed: 500_000, total: 500_000))
        #expect(log.entries.allSatisfy { ($0.fraction ?? 2) <= 1 })
    }
}
