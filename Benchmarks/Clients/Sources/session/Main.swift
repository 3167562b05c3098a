import Driver
import URLLoading

@main
enum Main {
    static func main() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        // Every request is to go over the network.
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        // A program that repeats one URL has parsed it before.
        let url = CommandLine.arguments.count == 4 ? URL(string: CommandLine.arguments[1]) : nil
        // As most programs do it, or as those do who count microseconds: on the session's own thread.
        let executor = ProcessInfo.processInfo.environment["ON_LOOP"] == nil ? nil : session.taskExecutor
        try await withTaskExecutorPreference(executor) {
            try await Driver.run { text in
                let (data, _) = try await session.data(from: url ?? URL(string: text)!)
                return data.count
            }
        }
    }
}
