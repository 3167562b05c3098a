import FacadeTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

@Suite("Uncurl's errors", .timeLimit(.minutes(5)))
struct UncurlErrorTests {
    @Test("import Uncurl brings URLSession")
    func oneImport() {
        #expect(URLSessionConfiguration.default.timeoutIntervalForRequest == 60)
    }

    /// One of each case, with what its words have to say. A new case does not compile before it stands here.
    private func samples() throws -> [(UncurlError, String)] {
        let url = try #require(URL(string: "https://example.com/x"))
        let response = HTTPURLResponse(url: url, statusCode: 500, httpVersion: nil, headerFields: nil)
        let answer = ReceivedResponse(response: response, data: Data())
        let file = FileFailure(source: url, destination: url, underlying: FileFailure.Obstacle.device)
        let samples: [(UncurlError, String)] = [
            (.invalidURL("a b", reason: "it names no host"), "names no host"),
            (.parameters(ParameterFailure(.notKeyed)), "without names"), (.header(name: "X-Y"), "X-Y"),
            (.multipart(.notReplayable), "only once"), (.compression(.encodedAlready("br")), "br"),
            (.adaptation(AuthenticationFailure.missingCredential), "credential"),
            (.validation(ValidationFailure([.status(500)], answer: answer)), "500"),
            (.serialization(SerializationFailure(.empty, answer: answer)), "no content"),
            (.trust(TrustFailure(host: "example.com", reason: .expired, words: "it has expired")), "expired"),
            (.challenge(URLError(.userAuthenticationRequired)), "requires credentials"),
            (.output(.changedContent(written: 7)), "7 bytes"), (.file(file), "a device is there"),
            (.transport(URLError(.timedOut)), "timed out"), (.cancelled, "cancelled"),
            (.sessionInvalidated, "invalidated"),
            (.retry(AuthenticationFailure.excessiveRefresh, original: .cancelled), "window"),
            (.bodyNotReplayable, "only once"), (.loading(NSError(domain: "Mine", code: 42)), "42"),
        ]
        #expect(Set(samples.map { kind($0.0) }) == Set(0..<18))
        return samples
    }

    private func kind(_ error: UncurlError) -> Int {
        switch error {
        case .invalidURL: 0
        case .parameters: 1
        case .header: 2
        case .multipart: 3
        case .compression: 4
        case .adaptation: 5
        case .validation: 6
        case .serialization: 7
        case .trust: 8
        case .challenge: 9
        case .output: 10
        case .file: 11
        case .transport: 12
        case .cancelled: 13
        case .sessionInvalidated: 14
        case .retry: 15
        case .bodyNotReplayable: 16
        case .loading: 17
        }
    }

    @Test("the localized description of every error says what happened, as an error and as an NSError", .rows("B7"))
    func localized() throws {
        for (error, words) in try samples() {
            let erased: any Error = error
            for said in [
                error.localizedDescription, erased.localizedDescription, (erased as NSError).localizedDescription,
            ] {
                #expect(said.contains(words), "\(said)")
                #expect(!said.contains("operation could not be completed"), "\(said)")
            }
        }
    }

    @Test("every error says where the request stopped; a suggestion is a sentence")
    func reasons() throws {
        for (error, _) in try samples() {
            let reason = try #require(error.failureReason)
            #expect(reason.hasSuffix(".") && reason.first?.isUppercase == true, "\(reason)")
            #expect((error as any Error as NSError).localizedFailureReason == reason)
            if let suggestion = error.recoverySuggestion { #expect(suggestion.hasSuffix("."), "\(suggestion)") }
        }
        // A check of the program's own may refuse any answer.
        let answer = ReceivedResponse(response: nil, data: Data())
        let refused = UncurlError.validation(ValidationFailure([.rejected(URLError(.unknown))], answer: answer))
        #expect(refused.failureReason == "The server answered, and the answer is not acceptable.")
        #expect(UncurlError.bodyNotReplayable.recoverySuggestion?.contains("closure") == true)
        let late = UncurlError.transport(URLError(.timedOut))
        #expect(late.recoverySuggestion?.contains("longer time") == true)
        #expect((late as any Error as NSError).localizedRecoverySuggestion == late.recoverySuggestion)
    }

    @Test("every error is an NSError of the domain and code that programs know, and the same code by bridging")
    func bridged() throws {
        let request = "com.alamofire.error.serialization.request"
        let response = "com.alamofire.error.serialization.response"
        let expected: [(String, Int)] = [
            (NSURLErrorDomain, -1000), (request, -1016), (request, -1016), (NSURLErrorDomain, -3001),
            (NSURLErrorDomain, -3001), (NSURLErrorDomain, -1), (response, -1011), (response, -1016),
            (NSURLErrorDomain, -1202), (NSURLErrorDomain, -1013), (NSURLErrorDomain, -3003), (NSURLErrorDomain, -3005),
            (NSURLErrorDomain, -1001), (NSURLErrorDomain, -999), (NSURLErrorDomain, -999), (NSURLErrorDomain, -999),
            (NSURLErrorDomain, -1021), ("Mine", 42),
        ]
        for ((error, words), (domain, code)) in zip(try samples(), expected) {
            #expect(error.nsError.domain == domain && error.nsError.code == code, "\(error): \(error.nsError)")
            let bridged = error as any Error as NSError
            #expect(bridged.code == code && bridged.domain == NSURLErrorDomain)
            #expect(bridged.localizedDescription.contains(words))
            #expect(bridged.userInfo[NSUnderlyingErrorKey] is any Error)
        }
    }

    @Test(
        "what real requests fail with is an NSError of the known domain and code, with the URL that failed",
        arguments: [
            ("never", NSURLErrorDomain, -1001), ("status/404", "com.alamofire.error.serialization.response", -1011),
            ("html", "com.alamofire.error.serialization.response", -1016),
        ]
    )
    func real(path: String, domain: String, code: Int) async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        var request = HTTPRequest(path)
        request.options.timeout = path == "never" ? .seconds(0.2) : nil
        let response = await manager.response(to: request, serializer: .json)
        let error = try #require(response.error)
        #expect(error.nsError.domain == domain)
        for bridged in [error.nsError, error as any Error as NSError] {
            #expect(bridged.code == code, "\(bridged)")
            #expect(bridged.userInfo[NSURLErrorFailingURLErrorKey] as? URL == response.request?.url, "\(bridged)")
        }
    }

    @Test("a cancelled request is an NSError with the code -999, by its transfer and by its Swift task")
    func cancelled() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let transfer = manager.start("never", serializer: .data)
        transfer.cancel()
        let waiting = Task { await manager.response(to: "never", serializer: .data) }
        waiting.cancel()
        for error in [await transfer.response.error, await waiting.value.error] {
            let bridged = try #require(error) as any Error as NSError
            #expect(bridged.domain == NSURLErrorDomain && bridged.code == -999 && error?.isCancelled == true)
        }
    }

    @Test("a refused answer's status and content are properties, and stand under AFNetworking's keys")
    func facts() throws {
        let url = try #require(URL(string: "https://example.com/x"))
        let response = HTTPURLResponse(url: url, statusCode: 422, httpVersion: nil, headerFields: nil)
        let answer = ReceivedResponse(response: response, data: Data("why".utf8))
        let refused = UncurlError.validation(ValidationFailure([.status(422)], answer: answer))
        for error in [refused, .retry(URLError(.unknown), original: refused)] {
            #expect(error.statusCode == 422 && error.responseData == Data("why".utf8) && error.response === response)
            #expect(!error.isCancelled && !error.isTimeout && !error.isConnectivity && error.urlError == nil)
            let info = error.nsError.userInfo
            #expect(info["com.alamofire.serialization.response.error.response"] as? HTTPURLResponse === response)
            #expect(info["com.alamofire.serialization.response.error.data"] as? Data == Data("why".utf8))
            #expect(info[NSURLErrorFailingURLErrorKey] as? URL == url)
        }
    }

    @Test(
        "errors tell cancelled requests, timeouts and missing networks apart",
        arguments: [
            (UncurlError.cancelled, [true, false, false]), (.transport(URLError(.cancelled)), [true, false, false]),
            (.adaptation(URLError(.cancelled)), [true, false, false]),
            (.transport(URLError(.timedOut)), [false, true, false]),
            (.transport(URLError(.notConnectedToInternet)), [false, false, true]),
            (.transport(URLError(.cannotFindHost)), [false, false, true]),
            (.retry(URLError(.unknown), original: .transport(URLError(.networkConnectionLost))), [false, false, true]),
            (.transport(URLError(.badServerResponse)), [false, false, false]),
            (.sessionInvalidated, [false, false, false]), (.bodyNotReplayable, [false, false, false]),
        ]
    )
    func questions(error: UncurlError, expected: [Bool]) {
        #expect([error.isCancelled, error.isTimeout, error.isConnectivity] == expected, "\(error)")
    }

    @Test(
        "underlying errors also say what happened",
        arguments: [
            SecurityPolicyError.noPins, PublicKeyPinError(description: "no pin"), StreamFailure.noEvent(attempts: 3),
            OperationFailure.output(nil, written: 1), AuthenticationFailure.refreshFailed(URLError(.timedOut)),
            InterceptionFailure.tooDeep(limit: 16), FileFailure.Obstacle.folder,
        ] as [any Error]
    )
    func beneath(error: any Error) {
        #expect(!error.localizedDescription.contains("operation could not be completed"))
    }

    @Test("the words for logs contain no URL, however deep the error is nested")
    func words() throws {
        let url = try #require(URL(string: "https://u:p@example.com/x?token=secret"))
        let response = HTTPURLResponse(url: url, statusCode: 500, httpVersion: nil, headerFields: nil)
        let answer = ReceivedResponse(response: response, data: Data("secret".utf8))
        let transport = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let refusal = ValidationFailure(
            [.status(500)],
            answer: answer,
            serialization: SerializationFailure(.empty, answer: answer)
        )
        let errors: [UncurlError] = [
            .invalidURL(url.absoluteString, reason: "it names no host"), .transport(transport), .validation(refusal),
            .serialization(SerializationFailure(.empty, answer: answer)),
        ]
        for error in errors {
            for told in [error, .adaptation(error), .challenge(transport), .retry(error, original: error)] {
                #expect(!told.words.isEmpty)
                #expect(!told.words.contains("secret") && !told.words.contains("example.com"), "\(told.words)")
            }
        }
    }

    @Test("a failure to connect names the host and the URL, and says that nothing was sent")
    func unconnected() async throws {
        let port = try RefusingPort()
        let manager = HTTPSessionManager(
            baseURL: URL(string: "http://127.0.0.1:\(port.number)/"),
            configuration: .isolated
        )
        let refused = try #require(await manager.response(to: "x?key=secret", serializer: .data).error)
        let words = refused.description
        #expect(
            words.contains("127.0.0.1:\(port.number)") && words.contains("/x") && words.contains("refused"),
            "\(words)"
        )
        #expect(words.contains("nothing was sent") && !words.contains("secret"), "\(words)")
        #expect(refused.failureReason?.contains("nothing was sent") == true)
        // A request that was sent may have had its effect.
        let server = try RawServer.start([[.receive(.headEnd), .reset]])
        let lost = try #require(await server.manager().response(to: HTTPRequest(.post, "x"), serializer: .data).error)
        #expect(!lost.description.contains("nothing was sent"), "\(lost)")
        #expect(lost.failureReason?.contains("nothing was sent") == false)
    }
}
