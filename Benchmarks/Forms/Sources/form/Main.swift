import Uncurl

/// Sends a form of files: `form URL FILE...`, as `curl -F f=@FILE... URL` does. Says how much memory was resident, in KiB, when
/// everything was there to send it with, and at the most.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, let url = URL(string: arguments[0]) else {
            print("usage: form URL FILE...")
            return
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)

        // Libraries, loop, certificates: what any first request brings, and no form of any size adds to.
        var small = MultipartForm()
        try small.append(.text("hello"), name: "field")
        try await send(small, to: url, by: session)

        var form = MultipartForm()
        for (index, path) in arguments.dropFirst().enumerated() {
            try form.append(.file(URL(fileURLWithPath: path)), name: "file\(index)")
        }
        let before = resident("VmRSS")
        try await send(form, to: url, by: session)
        print(before, resident("VmHWM"))
    }

    private static func send(_ form: MultipartForm, to url: URL, by session: URLSession) async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = 600
        let (_, response) = try await session.upload(for: request, multipart: form)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    }

    private static func resident(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.split(whereSeparator: { !$0.isNumber })[0]) } ?? 0
    }
}
