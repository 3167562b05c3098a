import UncurlLoad
import UncurlLoadReports

// A visit of a shop, by as many users as the machine takes: log in, look at three things, buy the last. What a command
// line cannot say is in the script: each request follows from the response before it.
//
//   swift run LoadScenario [URL] [VISITS A SECOND]

/// A user's way through the shop. Called for each user once; the closure it returns, for each step.
@Sendable func visit(_ user: Int) -> UserScript {
    var step = 0
    return { response in
        // nil: a visit begins.
        step = response == nil ? 0 : step + 1
        if let response, response.status != 200 { return .done }
        switch step {
        case 0: return .request(LoadRequest("GET", "/cookies/set?user=\(user)"))
        case 1...3: return .request(LoadRequest("GET", "/bytes/\(step * 1_000)"), after: .milliseconds(20))
        case 4:
            // The content of the last response decides what is bought.
            let item = response?.body.count ?? 0
            return .request(LoadRequest("POST", "/anything", body: Array("buy=\(item)".utf8)))
        default: return .done
        }
    }
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
test.script = visit

do {
    let report = try test.run()
    print(report.text)
    if let corrected = report.corrected {
        print("A visit's first answer came within \(corrected.percentile(99)) for 99 of 100 users.")
    }
} catch {
    print("The test cannot be run: \(error)")
}
