import Driver
import Foundation
import FoundationNetworking

@main
enum Main {
    static func main() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        // A program that repeats one URL has parsed it before.
        let url = CommandLine.arguments.count == 4 ? URL(string: CommandLine.arguments[1]) : nil
        try await Driver.run { text in
            let (data, _) = try await session.data(from: url ?? URL(string: text)!)
            return data.count
        }
    }
}
