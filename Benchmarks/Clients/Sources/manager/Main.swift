import Driver
import Uncurl

@main
enum Main {
    static func main() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        // Every request is to go over the network.
        configuration.urlCache = nil
        let url = CommandLine.arguments.dropFirst().first ?? ""
        let manager = HTTPSessionManager(baseURL: URL(string: url), configuration: configuration)
        // With notifications and without: what they cost is seen apart.
        if ProcessInfo.processInfo.environment["QUIET"] != nil { manager.notificationCenter = nil }
        let executor = ProcessInfo.processInfo.environment["ON_LOOP"] == nil ? nil : manager.session.taskExecutor
        try await withTaskExecutorPreference(executor) {
            try await Driver.run { text in
                try await manager.response(to: HTTPRequest(text == url ? "" : text), serializer: .data).result.get()
                    .count
            }
        }
    }
}
