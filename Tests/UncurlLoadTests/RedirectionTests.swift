import TestSupport
import Testing
import UncurlEngine
import UncurlHTTP1
import UncurlSemantics
import UncurlTestServer
import UncurlText

@testable import UncurlLoad

@Suite("Redirections that virtual users follow")
struct RedirectionTests {
    private func following(_ location: String, status: Int) throws -> RequestDescription? {
        let url = try TargetURL("http://here.example/a/b")
        let request = try RequestDescription(
            method: "POST",
            target: url.target,
            hostField: url.hostField,
            headers: ["Authorization: Basic eDp5", "Content-Type: text/plain", "X-Own: 1"],
            body: [1, 2, 3]
        )
        let options = LoadOptions(url, request)
        let requests = try EngineRequests(try RunPlan(options, .usual), embedded: nil)
        let draft = RequestDraft(
            method: "POST",
            url: "/a/b",
            headers: ["Content-Language: en"],
            body: [1, 2, 3],
            place: InputPlace(file: "", line: 0)
        )
        let planned = try requests.request(draft)
        var fields = HTTPFields()
        try fields.append("Location", location)
        let redirect = RedirectRule.follow(status: status, fields: fields, method: "POST", url: planned.url)
        return redirect.flatMap { requests.following(planned, by: $0)?.description }
    }

    @Test("a 307 to the same origin takes everything along")
    func same() throws {
        let next = try #require(try following("../c?d#e", status: 307))
        #expect((next.method, next.target, next.body) == ("POST", "/c?d", [1, 2, 3]))
        #expect(Set(next.fields.map(\.name)) == ["Authorization", "Content-Type", "Content-Language", "X-Own"])
    }

    @Test("a 303 leaves the content and what describes it behind, though the run says it of every request")
    func seeOther() throws {
        let next = try #require(try following("/c", status: 303))
        #expect((next.method, next.body) == ("GET", nil))
        #expect(Set(next.fields.map(\.name)) == ["Authorization", "X-Own"])
    }

    @Test("another origin is not sent the credentials, though the run says them of every request")
    func crossOrigin() throws {
        let next = try #require(try following("http://there.example/", status: 307))
        #expect(next.host == "there.example")
        #expect(!next.fields.contains { $0.name == "Authorization" })
    }

    @Test("a redirection to what cannot be asked is not followed", arguments: ["mailto:x", "ftp://h/", "http://"])
    func nowhere(location: String) throws {
        #expect(try following(location, status: 302) == nil)
    }
}

@Suite("Redirections by a schedule", .ownThread)
struct ScheduledRedirectionTests {
    /// - Parameter duration: The length of the measured part, after which the run waits for what is late.
    private func test(_ server: TestServer, rate: Double, _ duration: Duration) -> LoadTest {
        var test = LoadTest(url: server.url("/redirect/20"))
        (test.connections, test.rate, test.duration, test.redirects) = (20, rate, duration, 20)
        (test.timeout, test.drain) = (.seconds(60), .seconds(60))
        return test
    }

    @Test("the rate ratio counts first answers, whatever redirections the later requests of a visit get")
    func later() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = test(server, rate: 200, .milliseconds(500))
        test.names = ["first", "later"]
        test.visit = { user in
            _ = try await user.send(LoadRequest("GET", "/bytes/1", name: "first"))
            _ = try await user.send(LoadRequest("GET", "/redirect/2", name: "later"))
        }
        let metrics = try test.run().result.metrics
        #expect(metrics[.due] == 100 && metrics[.redirects] > 0)
        let answered = metrics.names[0].completed - metrics.names[0].drained
        #expect(metrics.rateRatio == Double(answered) / 100)
    }

    @Test("the rate ratio is not below 0 when redirections are followed after the measured part")
    func drained() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let metrics = try test(server, rate: 1_000, .milliseconds(1)).run().result.metrics
        #expect(metrics[.due] == 1 && metrics[.redirects] == 20 && metrics[.completed] == 21)
        #expect([0, 1].contains(metrics.rateRatio))
    }
}
