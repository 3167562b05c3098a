// Lines of an answer as they come, and a monitor that tells what the request goes through.
// Usage: LiveEvents [URL]. Without one it listens to a server of its own.
import Uncurl
import UncurlTestServer

let own = CommandLine.arguments.count > 1 ? nil : try TestServer.start()
let manager = HTTPSessionManager()
manager.monitors = [ClosureEventMonitor { event in print("  [\(event.transfer)] \(event.kind)") }]
let stream = try await manager.stream(HTTPRequest(own?.url("/stream/3") ?? CommandLine.arguments[1]))
print("the answer is of type \(stream.response.mimeType ?? "unknown")")
for try await line in stream.lines() { print(line) }
