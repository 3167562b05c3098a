import TestSupport
import Testing
import UncurlHTTP1

@testable import UncurlSemantics

/// What servers may send is anything; what the rules make of it is not.
@Suite("Rules and whatever servers send", .ownThread)
struct PolicyPropertyTests {
    /// Pieces that mean something to one grammar or another, and octets that mean nothing.
    private static let pieces: [[UInt8]] =
        [
            "http", "https", "://", "//", "/", "..", "/../", "/./", "?", "#", "@", ":", ":80", "[", "::1", "]",
            "h.example",
            "%", "%2", "%2e", "%zz", " ", "\t", "\\", "\"", ",", ";", "=", "max-age", "no-cache", "private", "no-store",
            "stale-if-error", "99999999999999999999", "-1", "0", "Digest", "Basic", "realm", "nonce", "qop", "auth-int",
            "stale", "userhash", "MD5-sess", "SHA-256", "Sun, 06 Nov 1994 08:49:37 GMT", "W/", "*",
        ].map { Array($0.utf8) } + [[0xE4], [0xFF], [0xC3, 0xBC], [0x7E]]

    private func octets(_ random: inout SplitMix) -> [UInt8] {
        (0..<random.below(12)).flatMap { _ in Self.pieces[random.below(Self.pieces.count)] }
    }

    @Test("a redirect leads to a host by http or https, in a URL that the engine takes, or nowhere")
    func redirects() throws {
        var random = SplitMix(seed: 1)
        let base = try written("https://h.example/a/b?c#d")
        var found = 0
        for _ in 0..<20_000 {
            let location = octets(&random)
            guard let target = RedirectRule.target(of: fields("Location", octets: location), against: base) else {
                continue
            }
            found += 1
            #expect(["http", "https"].contains(target.handshakeScheme), "\(location)")
            #expect(target.namesServer && target.authority?.contains(UInt8(ascii: "@")) == false, "\(location)")
            #expect(target.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(location)")
        }
        #expect(found > 1000)
    }

    @Test("a reference without an authority never leaves the one it is resolved against")
    func authority() {
        var random = SplitMix(seed: 2)
        let base = URIReference(Array("http://h.example/a/b".utf8))
        for _ in 0..<20_000 {
            let reference = URIReference(octets(&random))
            guard reference.scheme == nil, reference.authority == nil else { continue }
            let target = reference.resolved(against: base)
            #expect(target.authority == base.authority && URIReference(target.bytes).authority == base.authority)
        }
    }

    @Test("whatever is stored and asked for, a decision comes, and never one that serves what must not be served")
    func caching() {
        var random = SplitMix(seed: 3)
        let names = ["Cache-Control", "Expires", "Date", "Age", "Last-Modified", "ETag", "Vary", "Pragma"]
        func message(_ random: inout SplitMix) -> HTTPFields {
            var all = HTTPFields()
            for _ in 0..<random.below(6) {
                let name = names[random.below(names.count)]
                try? all.append(name: Array(name.utf8).span, value: octets(&random).span)
            }
            return all
        }
        for _ in 0..<20_000 {
            let (request, response) = (message(&random), message(&random))
            let times = [Int64.min, -1, 0, 784_111_777, .max]
            let record = CacheRecord(
                varying: VaryRule.usual.select(request, varying: response),
                requested: times[random.below(times.count)],
                received: times[random.below(times.count)]
            )
            let stored = StoredExchange(status: 200, fields: response, record: record)
            let decision = CacheRule.decide(
                method: "GET",
                request: request,
                mode: .standard,
                stored: stored,
                now: times[random.below(times.count)]
            )
            _ = CacheStorage.permitted(method: "GET", request: request, status: 200, response: response)
            _ = CacheRule.freshened(stored, by: message(&random), requested: 0, received: 0)
            guard case .serve(_, let isStale, let refresh) = decision else { continue }
            let (wishes, control) = (CacheControl(request), CacheControl(response))
            #expect(!wishes.noCache && !wishes.noStore && !control.noCache)
            #expect(!(isStale && control.mustRevalidate) && !(refresh != nil && !isStale))
        }
    }

    @Test("whatever a challenge says, its questions are asked or answered, and answers hold no line ends")
    func challenges() throws {
        var random = SplitMix(seed: 4)
        let place = try url("http://h.example/a")
        var answered = 0
        for _ in 0..<20_000 {
            var line = Array(["Digest realm=r, nonce=n, ", "Basic realm=r, ", ""][random.below(3)].utf8)
            line += octets(&random)
            for question in ChallengeQuestion.all(
                status: 401,
                fields: fields("WWW-Authenticate", octets: line),
                url: place
            ) {
                let authorizer = Authorizer(question, AuthorizerTests.mufasa, url: place)
                #expect((authorizer != nil) == question.isAnswerable)
                guard var authorizer, let value = try? authorizer.value(method: "GET", target: "/a", content: [])
                else { continue }
                answered += 1
                #expect(!value.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 })
            }
        }
        #expect(answered > 1000)
    }
}
