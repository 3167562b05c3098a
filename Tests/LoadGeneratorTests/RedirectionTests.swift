import HTTP1
import HTTPEngine
import HTTPSemantics
import Testing

@testable import LoadGenerator

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
        let options = LoadOptions(.url(url), request)
        let factory = try RequestFactory(RunPlan(options, try Preflight(options, .usual)), embedded: nil)
        let draft = RequestDraft(
            method: "POST",
            url: "/a/b",
            headers: ["Content-Language: en"],
            body: [1, 2, 3],
            place: InputPlace(file: "", line: 0)
        )
        let planned = try factory.request(draft)
        var fields = HTTPFields()
        try fields.append("Location", location)
        let redirect = RedirectRule.follow(status: status, fields: fields, method: "POST", url: planned.url)
        return redirect.flatMap { factory.following(planned, by: $0)?.description }
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
