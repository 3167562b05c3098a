import Testing
import UncurlHTTP1

@testable import UncurlSemantics

/// One machine, with what is around it: a memory of credentials, and words for its steps.
struct MachineRig: ~Copyable {
    var machine: AnswerMachine
    var memory = AuthorizationMemory()
    let url = URIReference("http://h.example/a")
    let place = try! HTTPURL("http://h.example/a")
    var now: Int64 = 784_111_777

    init(_ rules: AnswerMachine.Rules = .init(), resuming offer: ResumeOffer? = nil) {
        machine = AnswerMachine(rules, resuming: offer)
    }

    mutating func receive(
        _ status: Int,
        _ fields: HTTPFields = HTTPFields(),
        method: String = "GET",
        authorized: ProtectionSpace? = nil,
        hasOwnAuthorization: Bool = false,
        caching: AskedRequest.Caching = .stores
    ) -> AnswerMachine.Verdict {
        let request = AskedRequest(
            method: method,
            url: place,
            fields: HTTPFields(),
            hasOwnAuthorization: hasOwnAuthorization,
            authorized: authorized,
            sent: now,
            caching: caching
        )
        let head = AnswerHead(status: status, fields: fields, length: -1)
        let (url, now) = (url, now)
        return machine.receive(head, to: request, at: now, url: url, memory: &memory)
    }

    mutating func step(_ status: Int, _ fields: HTTPFields = HTTPFields(), method: String = "GET") -> String {
        receive(status, fields, method: method).step.words
    }

    /// With a response stored a minute ago under `control`.
    mutating func begin(_ control: String?, _ more: (String, String)..., mode: CacheMode = .standard) -> String {
        var stored = fields(("Date", "Sun, 06 Nov 1994 08:49:37 GMT"))
        for (name, value) in more { try? stored.append(name, value) }
        if let control { try? stored.append("Cache-Control", control) }
        let record = CacheRecord(varying: [], requested: 784_111_777, received: 784_111_777)
        now = 784_111_777 + 60
        return machine.begin(
            method: "GET",
            fields: HTTPFields(),
            mode: mode,
            stored: control == nil ? nil : StoredExchange(status: 200, fields: stored, record: record),
            now: now
        ).words
    }
}

extension Step {
    /// For tables.
    var words: String {
        switch self {
        case .send(let fields): (["send"] + fields.map(\.name)).joined(separator: " ")
        case .serveStored(let age, let refresh):
            "serve" + (age.map { " \($0)" } ?? "") + (refresh == nil ? "" : " and refresh")
        case .serveUpdated: "serve updated"
        case .discardStored: "discard"
        case .answerGatewayTimeout: "504"
        case .askForCredentials(let question, let failures): "ask \(question.space.scheme) \(failures)"
        case .proposeRedirect(let redirect): "\(redirect.method) \(redirect.url.text)"
        case .sendAgain: "again"
        case .requestWhole: "whole"
        case .askForStream: "stream"
        case .waitForConnectivity(let pause, let isFirst): "wait \(pause)" + (isFirst ? " first" : "")
        case .beginAnew(let pause): "anew \(pause)"
        case .deliver(.whole, let storage): "deliver \(storage.words)"
        case .deliver(.wholeInsteadOfRest, let storage): "deliver instead \(storage.words)"
        case .deliver(.rest(let total), _): "deliver rest of \(total)"
        case .fail(let reason): "fail \(reason)"
        }
    }
}

extension Step.Storage {
    fileprivate var words: String {
        switch self {
        case .none: "only"
        case .everywhere: "and store"
        case .inMemory: "and keep"
        case .compare: "and compare"
        }
    }
}

@Suite("What becomes of an answer: redirects")
struct AnswerRedirectTests {
    @Test(
        "a redirect is proposed with the method that its status leaves",
        arguments: [
            (301, "GET", "GET"), (301, "POST", "GET"), (302, "POST", "GET"), (302, "PUT", "PUT"), (303, "POST", "GET"),
            (303, "DELETE", "GET"), (303, "HEAD", "HEAD"), (307, "POST", "POST"), (308, "PATCH", "PATCH"),
        ]
    )
    func methods(status: Int, method: String, next: String) {
        var rig = MachineRig()
        let step = rig.step(status, fields(("Location", "/b")), method: method)
        #expect(step == "\(next) http://h.example/b")
    }

    @Test(
        "a response whose status is no redirect, or whose redirect leads nowhere, is the answer",
        arguments: [(300, "/b"), (304, "/b"), (305, "/b"), (200, "/b"), (302, "ftp://h/"), (302, "http://"), (302, "")]
    )
    func answers(status: Int, location: String) {
        var rig = MachineRig()
        #expect(rig.step(status, fields(("Location", location))).hasPrefix("deliver"))
    }

    @Test("after a redirect that dropped it, content goes along only if the user brings new content")
    func content() {
        for (method, status, brings, sends) in [
            ("POST", 302, false, false), ("POST", 302, true, true), ("POST", 307, false, true),
            ("GET", 302, false, true),
        ] {
            var rig = MachineRig()
            _ = rig.step(status, fields(("Location", "/b")), method: method)
            let step = rig.machine.follow(to: URIReference("http://h.example/b"), from: rig.url, bringsContent: brings)
            #expect(step.words == "again")
            #expect(rig.machine.sendsContent == sends, "\(method) \(status) \(brings)")
        }
    }

    @Test("a redirect declined is delivered, and its content still goes with the next one")
    func declined() {
        var rig = MachineRig()
        _ = rig.step(302, fields(("Location", "/b")), method: "POST")
        #expect(rig.machine.decline().words == "deliver only")
        _ = rig.machine.follow(to: rig.url, from: rig.url, bringsContent: false)
        #expect(rig.machine.sendsContent == true)
    }

    @Test("once a redirect has led to another origin, the request counts as away, on a way back too")
    func origins() {
        var rig = MachineRig()
        let (home, other) = (URIReference("http://h.example/a"), URIReference("http://h.example:81/"))
        _ = rig.machine.follow(to: URIReference("http://H.example:80/b"), from: home, bringsContent: false)
        #expect(rig.machine.hasLeftOrigin == false)
        _ = rig.machine.follow(to: other, from: home, bringsContent: false)
        #expect(rig.machine.hasLeftOrigin == true)
        _ = rig.machine.follow(to: home, from: other, bringsContent: false)
        #expect(rig.machine.hasLeftOrigin == true)
    }

    @Test("the redirect after the limit fails, whether a server or the user sends it")
    func limit() {
        var rig = MachineRig()
        for _ in 0..<RedirectRule.limit {
            #expect(rig.step(302, fields(("Location", "/b"))) == "GET http://h.example/b")
            #expect(rig.machine.follow(to: rig.url, from: rig.url, bringsContent: false).words == "again")
        }
        #expect(rig.step(302, fields(("Location", "/b"))) == "fail tooManyRedirects")
        #expect(rig.machine.follow(to: rig.url, from: rig.url, bringsContent: false).words == "fail tooManyRedirects")
    }
}

@Suite("What becomes of an answer: challenges")
struct AnswerChallengeTests {
    private static let user = Credentials(user: "u", password: "p")
    private static let basic = fields(("WWW-Authenticate", "Basic realm=r"))
    private static let digest = fields(("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#))

    private func question(_ step: Step) throws -> ChallengeQuestion {
        guard case .askForCredentials(let question, _) = step else { throw NoURL(text: step.words) }
        return question
    }

    private func send(_ rig: inout MachineRig) throws -> SentAuthorization? {
        try rig.machine.authorization(method: "GET", target: "/a", content: [])
    }

    @Test("a name and a password go with the next request, and are remembered once they were accepted")
    func accepted() throws {
        var rig = MachineRig()
        let asked = try question(rig.receive(401, Self.basic).step)
        #expect(rig.machine.reply(.credentials(Self.user), to: asked, url: rig.place).words == "again")
        let sent = try #require(try send(&rig))
        #expect(sent.value == "Basic dTpw" && rig.memory.isEmpty)
        let verdict = rig.receive(200, authorized: sent.space)
        #expect(verdict.accepted == sent.space && verdict.step.words == "deliver and keep")
        #expect(rig.memory.credentials(for: rig.place) == Self.user)
        #expect(try send(&rig) == nil)
    }

    @Test("credentials are accepted by a redirect as well")
    func acceptedByRedirect() throws {
        var rig = MachineRig()
        let asked = try question(rig.receive(401, Self.basic).step)
        _ = rig.machine.reply(.credentials(Self.user), to: asked, url: rig.place)
        let space = try #require(try send(&rig)).space
        let verdict = rig.receive(302, fields(("Location", "/b")), authorized: space)
        #expect(verdict.accepted == space && verdict.step.words == "GET http://h.example/b")
    }

    @Test("three refused answers are enough: the fourth challenge is the answer")
    func refused() throws {
        var rig = MachineRig()
        for failures in 0..<ChallengeQuestion.attemptLimit {
            let space = try send(&rig)?.space
            let step = rig.receive(401, Self.basic, authorized: space).step
            #expect(step.words == "ask basic \(failures)")
            _ = rig.machine.reply(.credentials(Self.user), to: try question(step), url: rig.place)
        }
        let space = try send(&rig)?.space
        #expect(rig.receive(401, Self.basic, authorized: space).step.words == "deliver only")
    }

    @Test("a stale nonce is answered without a question, within the limit of answers")
    func stale() throws {
        var rig = MachineRig()
        let asked = try question(rig.receive(401, Self.digest).step)
        _ = rig.machine.reply(.credentials(Self.user), to: asked, url: rig.place)
        let stale = fields(("WWW-Authenticate", #"Digest realm="r", nonce="m", qop="auth", stale=true"#))
        for _ in 1..<ChallengeQuestion.answerLimit {
            let space = try send(&rig)?.space
            #expect(rig.receive(401, stale, authorized: space).step.words == "again")
        }
        let space = try send(&rig)?.space
        #expect(rig.receive(401, stale, authorized: space).step.words == "ask digest 1")
    }

    @Test("the next question follows on one refused; after the last the response is the answer")
    func next() throws {
        var rig = MachineRig()
        var both = Self.digest
        try both.append("WWW-Authenticate", "Basic realm=r")
        let first = rig.receive(401, both).step
        #expect(first.words == "ask digest 0")
        let second = rig.machine.reply(.next, to: try question(first), url: rig.place)
        #expect(second.words == "ask basic 0")
        #expect(rig.machine.reply(.next, to: try question(second), url: rig.place).words == "deliver only")
        let again = rig.receive(401, both).step
        #expect(rig.machine.reply(.none, to: try question(again), url: rig.place).words == "deliver only")
    }

    @Test("a caller's own Authorization, and a scheme that is not known, make the challenge the answer")
    func own() {
        var rig = MachineRig()
        #expect(rig.receive(401, Self.basic, hasOwnAuthorization: true).step.words == "deliver only")
        #expect(rig.step(401, fields(("WWW-Authenticate", "Bearer realm=x"))) == "deliver only")
    }

    @Test("a proxy's refusal is asked about; without an answer the request fails")
    func proxies() throws {
        var rig = MachineRig()
        let challenges = AuthenticationChallenge.all(in: Self.basic, "WWW-Authenticate")
        let refusal = ChallengeQuestion.all(ofProxy: challenges, host: "p", port: 3128, isSecure: false)
        let step = rig.machine.fail(AnswerFailure(proxy: refusal))
        let asked = try question(step)
        #expect(asked.space.host == "p" && asked.side == .proxy)
        #expect(rig.machine.reply(.credentials(Self.user), to: asked, url: rig.place).words == "again")
        #expect(try send(&rig) == nil)
        #expect(rig.machine.fail(AnswerFailure(proxy: refusal)).words == "ask basic 1")
        #expect(rig.machine.reply(.none, to: asked, url: rig.place).words == "fail refusedByProxy")
    }
}

@Suite("What becomes of an answer: the cache")
struct AnswerCacheTests {
    private static let tag = ("ETag", "\"a\"")

    @Test(
        "what is stored decides how a request begins",
        arguments: [
            (nil, .standard, "send"), ("max-age=600", .standard, "serve 60"),
            ("max-age=1", .standard, "send If-None-Match"),
            ("max-age=600", .revalidate, "send If-None-Match Cache-Control"),
            (nil, .revalidate, "send Cache-Control"),
            ("max-age=1", .preferStored, "serve 60"), (nil, .onlyStored, "fail nothingStored"),
            (nil, .reload, "send Cache-Control Pragma"), ("max-age=600", .bypass, "send"),
            ("max-age=1, stale-while-revalidate=99", .standard, "serve 60 and refresh"),
        ] as [(String?, CacheMode, String)]
    )
    func begins(control: String?, mode: CacheMode, step: String) {
        var rig = MachineRig()
        #expect(rig.begin(control, Self.tag, mode: mode) == step)
    }

    @Test("a 304 to the cache's own conditions serves what is stored, and one of another response removes it")
    func notModified() {
        for (tag, step) in [("\"a\"", "serve updated"), ("\"b\"", "discard")] {
            var rig = MachineRig()
            #expect(rig.begin("max-age=1", Self.tag) == "send If-None-Match")
            #expect(rig.step(304, fields(("ETag", tag))) == step)
        }
        var rig = MachineRig()
        #expect(rig.begin(nil) == "send")
        #expect(rig.step(304).hasPrefix("deliver"))
    }

    @Test("stale-if-error covers errors and failures before the head, and nothing after it")
    func staleIfError() {
        for status in [500, 502, 503, 504] {
            var rig = MachineRig()
            _ = rig.begin("max-age=1, stale-if-error=99", Self.tag)
            #expect(rig.step(status) == "serve")
        }
        var rig = MachineRig()
        _ = rig.begin("max-age=1, stale-if-error=99", Self.tag)
        #expect(rig.machine.fail(AnswerFailure()).words == "serve")
        _ = rig.begin("max-age=1, stale-if-error=99", Self.tag)
        #expect(rig.step(404) == "deliver and keep")
        #expect(rig.machine.fail(AnswerFailure()).words == "fail failure")
    }

    @Test("an error that a stored response stands in for is no redirect, and a covered challenge is asked about")
    func orders() {
        var rig = MachineRig()
        _ = rig.begin("max-age=1, stale-if-error=99", Self.tag)
        #expect(rig.step(503, fields(("Location", "/b"))) == "serve")
        _ = rig.begin("max-age=1, stale-if-error=99", Self.tag)
        #expect(rig.step(401, fields(("WWW-Authenticate", "Basic realm=r"))) == "ask basic 0")
    }

    @Test("an unsafe method's answer invalidates what is stored, its redirect's too, and an error nothing")
    func invalidation() {
        for (method, status, count) in [("POST", 200, 2), ("POST", 303, 2), ("GET", 200, 0), ("DELETE", 404, 0)] {
            var rig = MachineRig()
            let verdict = rig.receive(status, fields(("Location", "/b")), method: method)
            #expect(verdict.invalidated.count == count, "\(method) \(status)")
        }
    }

    @Test(
        "what is delivered is stored as the rules permit and the owner wants it",
        arguments: [
            ("GET", .stores, "deliver and store"), ("GET", .compares, "deliver only"), ("GET", .none, "deliver only"),
            ("HEAD", .compares, "deliver and compare"), ("HEAD", .none, "deliver only"),
            ("POST", .stores, "deliver only"),
        ] as [(String, AskedRequest.Caching, String)]
    )
    func storing(method: String, caching: AskedRequest.Caching, step: String) {
        var rig = MachineRig()
        let verdict = rig.receive(200, fields(("Cache-Control", "max-age=60")), method: method, caching: caching)
        #expect(verdict.step.words == step)
    }
}

@Suite("What becomes of an answer: resumption and failures")
struct AnswerFailureTests {
    private static let offer = ResumeOffer(validator: "\"a\"", received: 10, expected: 30)

    @Test(
        "only the very rest is put behind what is on disk",
        arguments: [
            (206, "bytes 10-29/30", "\"a\"", "deliver rest of 30"), (206, "bytes 10-29/30", "\"b\"", "whole"),
            (206, "bytes 9-29/30", "\"a\"", "whole"), (206, "bytes 10-39/40", "\"a\"", "whole"),
            (416, "bytes */5", "\"a\"", "whole"), (200, nil, "\"b\"", "deliver instead only"),
            (404, nil, nil, "deliver instead only"),
        ] as [(Int, String?, String?, String)]
    )
    func resumption(status: Int, range: String?, tag: String?, step: String) {
        var rig = MachineRig(resuming: Self.offer)
        let values = rig.machine.resumptionFields.map { String(decoding: $0.value, as: UTF8.self) }
        #expect(values == ["bytes=10-", "\"a\""])
        var head = HTTPFields()
        if let range { try? head.append("Content-Range", range) }
        if let tag { try? head.append("ETag", tag) }
        #expect(rig.receive(status, head, caching: .compares).step.words == step)
        #expect(rig.machine.resumptionFields.isEmpty == (step != "deliver rest of 30"))
    }

    @Test("a download that is redirected goes on only where its part is answered")
    func redirected() {
        var rig = MachineRig(resuming: Self.offer)
        #expect(rig.step(302, fields(("Location", "/b"))) == "GET http://h.example/b")
        _ = rig.machine.follow(to: rig.url, from: rig.url, bringsContent: false)
        #expect(rig.receive(404, caching: .compares).step.words == "deliver only")
        #expect(rig.step(206, fields(("Content-Range", "bytes 10-29/30"))) == "deliver rest of 30")
    }

    @Test("a rest that is not there any more is asked for as a whole, once")
    func gone() {
        var rig = MachineRig(resuming: Self.offer)
        #expect(rig.machine.restIsGone().words == "whole")
        #expect(rig.machine.resumptionFields.isEmpty == true)
        #expect(
            rig.receive(206, fields(("Content-Range", "bytes 10-29/30")), caching: .none).step.words == "deliver only"
        )
    }

    @Test("without connectivity a request waits, longer each time, and its user is told once")
    func connectivity() {
        var rig = MachineRig(.init(waitsForConnectivity: true))
        let failure = AnswerFailure(isWithoutConnectivity: true, isTransient: true)
        let first = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].map { "wait \(Duration.milliseconds($0))" }
        for (number, words) in first.enumerated() {
            #expect(rig.machine.fail(failure).words == words + (number == 0 ? " first" : ""))
        }
        #expect(rig.machine.fail(AnswerFailure(isTransient: true)).words == "fail failure")
        _ = rig.step(200)
        #expect(rig.machine.fail(failure).words == "fail failure")
    }

    @Test("an owner that tries again does so after what passes, and a new attempt waits longer than the last")
    func triesAgain() {
        var rig = MachineRig(.init(triesAgain: true))
        #expect(rig.machine.fail(AnswerFailure()).words == "fail failure")
        #expect(rig.machine.fail(AnswerFailure(isTransient: true)).words == "anew \(Duration.milliseconds(250))")
        _ = rig.machine.follow(to: URIReference("http://other/"), from: rig.url, bringsContent: false)
        rig.machine = rig.machine.anew(resuming: Self.offer)
        #expect(rig.machine.redirects == 0)
        #expect(rig.machine.hasLeftOrigin == false)
        #expect(rig.machine.resumptionFields.isEmpty == false)
        #expect(rig.machine.fail(AnswerFailure(isTransient: true)).words == "anew \(Duration.milliseconds(500))")
    }

    @Test("a stream is asked for again after a closed connection, once, where the server cannot have acted on it")
    func streams() {
        func facts(sent: Bool, idempotent: Bool, reused: Bool = true) -> AnswerFailure {
            AnswerFailure(
                stream: RetryRule(
                    reusedConnection: reused,
                    responseStarted: false,
                    peerClosed: true,
                    sent: sent,
                    idempotent: idempotent,
                    replayable: true,
                    alreadyRetried: false
                )
            )
        }
        for (failure, step) in [
            (facts(sent: false, idempotent: false), "stream"), (facts(sent: true, idempotent: true), "stream"),
            (facts(sent: true, idempotent: false), "fail failure"),
            (facts(sent: false, idempotent: true, reused: false), "fail failure"),
        ] {
            var rig = MachineRig()
            #expect(rig.machine.fail(failure).words == step)
            #expect(rig.machine.fail(failure).words == "fail failure")
        }
    }

    @Test("what is stored covers a failure before the request waits or is tried again")
    func order() {
        var rig = MachineRig(.init(waitsForConnectivity: true, triesAgain: true))
        let failure = AnswerFailure(isWithoutConnectivity: true, isTransient: true)
        _ = rig.begin("max-age=1, stale-if-error=99")
        #expect(rig.machine.fail(failure).words == "serve")
        _ = rig.begin(nil)
        #expect(rig.machine.fail(failure).words == "wait \(Duration.milliseconds(250)) first")
        #expect(rig.machine.fail(AnswerFailure(isTransient: true)).words == "anew \(Duration.milliseconds(500))")
    }
}
