// A first request, its value decoded; and an error that says what happened.
// Usage: FirstRequest [BASE-URL]. Without one it asks a server of its own.
import Uncurl
import UncurlTestServer

struct Answer: Decodable, Sendable {
    var url: String
    var args: [String: String]
}

let own = CommandLine.arguments.count > 1 ? nil : try TestServer.start()
let base = own?.url("/") ?? CommandLine.arguments[1]
let manager = HTTPSessionManager(baseURL: URL(string: base))
let answer = try await manager.get("get", parameters: ["city": "Zürich", "page": 2], as: Answer.self)
print("asked:", answer.url)
print("understood:", answer.args)

let missing = await manager.response(to: HTTPRequest("status/404"), serializer: .json)
if let error = missing.error { print("refused:", error) }
