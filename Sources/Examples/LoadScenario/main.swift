import UncurlLoad
import UncurlLoadReports

// A visit of a shop, by as many users as the machine takes: log in, look at three things, buy the last. What a command
// line cannot say is in the visit: each request follows from the response before it.
//
//   swift run --traits Commands LoadScenario [URL] [VISITS A SECOND]

struct Refused: Error {}

/// A user's way through the shop.
@Sendable func visit(_ user: LoadUser) async throws {
    /// Sends a request, and ends the visit where the shop does not answer as it should.
    func answer(to request: LoadRequest) async throws -> LoadResponse {
        let response = try await user.send(request)
        guard response.status == 200 else { throw Refused() }
        return response
    }
    _ = try await answer(to: LoadRequest("GET", "/cookies/set?user=\(user.number)"))
    // The content of the last response decides what is bought.
    var item = 0
    for step in 1...3 {
        try await user.pause(.milliseconds(20))
        item = try await answer(to: LoadRequest("GET", "/bytes/\(step * 1_000)")).body.count
    }
    _ = try await answer(to: LoadRequest("POST", "/anything", body: Array("buy=\(item)".utf8)))
}

let arguments = CommandLine.arguments.dropFirst()
var test = LoadTest(url: arguments.first)
test.rate = arguments.dropFirst().first.flatMap { Double($0) } ?? 50
test.connections = 100
test.threads = 2
test.duration = .seconds(5)
test.keepsCookies = true
test.redirects = 1
test.drain = .seconds(5)
test.visit = visit

do {
    let report = try test.run()
    print(report.text)
    if let corrected = report.corrected {
        print("A visit's first answer came within \(corrected.percentile(99)) for 99 of 100 users.")
    }
} catch {
    print("The test cannot be run: \(error)")
}
