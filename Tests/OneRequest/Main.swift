import URLLoading

/// The smallest program on `URLLoading`: what it links and how fast it starts is what the module costs its users.
@main
enum OneRequest {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        if words.first == "--background", words.count == 4, let url = URL(string: words[3]) {
            let isThere = await BackgroundDownload.run(words[2], url, words[4])
            exit(isThere ? 0 : 1)
        }
        if words.first == "--upload", words.count == 3, let url = URL(string: words[2]) {
            exit(await FileUpload.run(nil, url, words[3]) ? 0 : 1)
        }
        if words.first == "--background-upload", words.count == 4, let url = URL(string: words[3]) {
            exit(await FileUpload.run(words[2], url, words[4]) ? 0 : 1)
        }
        guard let url = words.first.flatMap({ URL(string: $0) }) else {
            print("usage: OneRequest URL | --background IDENTIFIER URL FILE")
            print("       OneRequest --upload URL FILE | --background-upload IDENTIFIER URL FILE")
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
