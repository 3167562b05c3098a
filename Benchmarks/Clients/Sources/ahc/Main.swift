import AsyncHTTPClient
import Driver

@main
enum Main {
    static func main() async throws {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        try await Driver.run { text in
            let response = try await client.execute(HTTPClientRequest(url: text), timeout: .seconds(60))
            return try await response.body.collect(upTo: 1 << 20).readableBytes
        }
        try await client.shutdown()
    }
}
