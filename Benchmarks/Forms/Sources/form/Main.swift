import Uncurl

/// Sends a form of files: `form URL FILE...`, as `curl -F f=@FILE... URL` does.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, let url = URL(string: arguments[0]) else {
            print("usage: form URL FILE...")
            return
        }
        var form = MultipartForm()
        for (index, path) in arguments.dropFirst().enumerated() {
            try form.append(.file(URL(fileURLWithPath: path)), name: "file\(index)")
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = 600
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)
        let (_, response) = try await session.upload(for: request, multipart: form)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    }
}
