// A form with a field and a file, which goes from the disk to the socket, with its progress.
// Usage: UploadForm [URL FILE]. Without them it sends itself to a server of its own.
import Uncurl
import UncurlTestServer

struct Answer: Decodable, Sendable {
    var form: [String: String]
    var files: [String: String]
}

func sample() throws -> String {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
    try Data(String(repeating: "All work and no play.\n", count: 1000).utf8).write(to: place)
    return place.path
}

let arguments = CommandLine.arguments
let own = arguments.count > 2 ? nil : try TestServer.start()
let file = URL(fileURLWithPath: arguments.count > 2 ? arguments[2] : try sample())
let manager = HTTPSessionManager()
var form = MultipartForm()
try form.append(.text("a small file"), name: "title")
try form.append(.file(file), name: "file")
let answer = try await manager.post(
    own?.url("/anything") ?? arguments[1],
    body: .multipart(form),
    progress: { print("sent \($0.completed) of \($0.total ?? -1) bytes") },
    as: Answer.self
)
print("the server has fields \(answer.form) and files of \(answer.files.mapValues(\.count)) characters")
if own != nil { try FileManager.default.removeItem(at: file) }
