import URLLoading

/// The smallest program on `URLLoading`: what it links and how fast it starts is what the module costs its users.
@main
enum OneRequest {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            print("usage: OneRequest URL")
            return
        }
        do {
            let (data, response) = try await URLSession.shared.data(from: url)
            print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
        } catch {
            print("failed: \(error)")
        }
    }
}
