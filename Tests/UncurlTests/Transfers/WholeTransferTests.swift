import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

/// What belongs to a request as a whole, over all its attempts.
@Suite("Requests as a whole", .timeLimit(.minutes(5)))
struct WholeTransferTests {
    private static let refused =
        "HTTP/1.1 503 Busy\r\nContent-Length: 2000\r\n\r\n" + String(repeating: "x", count: 2000)
    private static let taken =
        "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n" + String(repeating: "y", count: 3000)

    @Test("progress goes on from attempt to attempt, and never back", .rows("U21", "D15"))
    func progress() async throws {
        let server = try RawServer.answering([Self.refused, Self.taken])
        let manager = server.manager()
        manager.interceptors = [RetryPolicy(limit: 1)]
        manager.clock = ImmediateClock()
        let seen = Log<Int64>()
        var request = HTTPRequest("x")
        request.options.downloadProgress = { seen.add($0.completed) }
        let transfer = manager.start(request, serializer: .data)
        #expect(await transfer.response.value?.count == 3000)
        #expect(seen.entries == seen.entries.sorted() && seen.entries.last == 3000 && seen.entries.contains(2000))
        #expect(transfer.control.downloadProgress == TransferProgress(completed: 3000, total: 3000))
        #expect(transfer.control.error == nil)
        // What an attempt tells that is behind the one before it.
        let told = Log<Int64>()
        request.options.downloadProgress = { told.add($0.completed) }
        let whole = request.withProgressOfAllAttempts
        for completed: Int64 in [1000, 500, 1500] {
            whole.options.downloadProgress?(TransferProgress(completed: completed, total: nil))
        }
        #expect(told.entries == [1000, 1500])
    }

    @Test("a deadline ends a request, retries and pauses included, as timed out", .rows("W13"))
    func deadline() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        manager.interceptors = [.retrying { _ in .retryAfter(.seconds(100_000)) }]
        var request = HTTPRequest("status/500")
        request.options.deadline = .milliseconds(50)
        let response = await manager.response(to: request, serializer: .data)
        #expect(response.error?.isTimeout == true && response.error?.isCancelled == false)
        request = "never"
        request.options.deadline = .milliseconds(50)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
        await #expect(throws: UncurlError.self) { _ = try await manager.stream(request) }
        request = "bytes/4"
        request.options.deadline = .seconds(100_000)
        #expect(await manager.response(to: request, serializer: .data).value?.count == 4)
    }

    @Test("an answer in memory is limited by default, and by a configuration that says so", .rows("W23"))
    func limit() async throws {
        let length = URLSessionManager.usualMaximumDataLength + 1
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        let server = try RawServer.start([RawScript([.receive(.headEnd), .send(Array(head.utf8)), .stall])])
        let response = await server.manager().response(to: "x", serializer: .data)
        #expect(response.error?.urlError?.code == .dataLengthExceedsMaximum)
        let configuration = URLSessionConfiguration.isolated
        configuration.maximumDataLength = .max
        #expect(URLSessionManager(configuration: configuration).configuration.maximumDataLength == .max)
    }

    @Test(
        "a manager knows its requests, between attempts too, and cancels all of them or those of one tag",
        .rows("B21")
    )
    func cancelled() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let waits = Log<Bool>()
        manager.interceptors = [
            .retrying { _ in
                waits.add(true)
                return .retryAfter(.seconds(100_000))
            }
        ]
        var tagged = HTTPRequest("never")
        tagged.options.tag = "images"
        let first = manager.start(tagged, serializer: .data)
        let second = manager.start("status/500", serializer: .data)
        await waits.wait(for: 1)
        #expect(manager.transfers.map(\.identifier) == [first.control.identifier, second.control.identifier])
        manager.cancelAll(tagged: "images")
        #expect(await first.response.error?.isCancelled == true)
        #expect(second.control.state == .resumed)
        manager.cancelAll()
        #expect(await second.response.error?.isCancelled == true)
        #expect(manager.transfers.isEmpty)
    }

    @Test(
        "a monitor that asks for details hears of heads, redirects, challenges, progress, validation and moves",
        .rows("B19")
    )
    func details() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let log = Log<String>()
        manager.monitors = [
            ClosureEventMonitor(details: true) { event in
                if case .detail(let detail) = event.kind { log.add(String("\(detail)".prefix { $0 != "(" })) }
                if case .finished = event.kind { log.add("finished") }
            }
        ]
        manager.hooks.didReceiveChallenge = { _, _, _ in .performDefaultHandling }
        func details(_ run: () async -> Void) async -> Set<String> {
            let before = log.entries.count
            await run()
            #expect(await Sightings<Int>.eventually { log.entries.dropFirst(before).contains("finished") })
            return Set(log.entries.dropFirst(before)).subtracting(["finished"])
        }
        let redirected = await details { _ = await manager.response(to: "redirect/1", serializer: .data) }
        #expect(redirected.isSuperset(of: ["redirected", "receivedHead", "received", "validated"]))
        let challenged = await details { _ = await manager.response(to: "basic-auth/a/b", serializer: .data) }
        #expect(challenged.isSuperset(of: ["challenged", "receivedHead", "validated"]))
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let moved = await details { _ = await manager.downloadResponse("bytes/10", to: .file(place)) }
        #expect(moved == ["receivedHead", "received", "validated", "movedFile"])
        let sent = await details {
            _ = await manager.response(to: HTTPRequest(.post, "post", body: .data(Data([1]))), serializer: .data)
        }
        #expect(sent.contains("sent"))
        let unbuilt = await details { _ = await manager.response(to: "http://", serializer: .data) }
        #expect(unbuilt == ["failedBeforeSending"])
        let read = await details {
            guard let stream = try? await manager.stream("bytes/10") else { return }
            var reader = stream.makeAsyncIterator()
            while let part = try? await reader.next(), !part.isEmpty {}
        }
        #expect(read.isSuperset(of: ["receivedHead", "received", "streamed", "validated"]))
        let cut = await details {
            manager.start(streaming: "anything/x", as: { $0.lines() }, each: { _ in })
            #expect(await Sightings<Int>.eventually { manager.transfers.isEmpty })
        }
        #expect(cut.contains("streamedValue"))
        let refused = await details { _ = try? await manager.stream("status/500") }
        #expect(refused.contains("validated"))
        let unsent = await details { _ = try? await manager.stream("http://") }
        #expect(unsent == ["failedBeforeSending"])
    }

    @Test("a download is decoded from its file, which is deleted unless it has a place", .rows("B18"))
    func decoded() async throws {
        struct Seen: Decodable, Sendable { var url: String? }
        let server = try TestServer.start()
        let manager = server.manager()
        #expect(try await manager.download("anything/x", as: Seen.self).url?.hasSuffix("/anything/x") == true)
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        _ = try await manager.download("anything/x", to: .file(place), as: Seen.self)
        #expect(FileManager.default.fileExists(atPath: place.path))
        let kept = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: kept) }
        manager.hooks.didFinishDownloading = { _, _, _ in kept }
        _ = try await manager.download("anything/x", as: Seen.self)
        #expect(FileManager.default.fileExists(atPath: kept.path))
    }

    @Test("a refused download that is to be decoded leaves no file, and its failure has the content", .rows("B18"))
    func refusedContent() async throws {
        let server = try RawServer.answering(["HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"])
        let error = await #expect(throws: UncurlError.self) {
            try await server.manager().download("x", as: [Int].self)
        }
        var refusal: ValidationFailure?
        if case .validation(let failure)? = error { refusal = failure }
        #expect(refusal?.data == Data("gone".utf8) && refusal?.fileURL == nil, "\(String(describing: error))")
    }

    private static func failure(_ code: URLError.Code, _ method: HTTPMethod, retries: Int = 0) -> FailedAttempt {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.httpMethod = method.rawValue
        return FailedAttempt(
            attempt: RequestAttempt(transfer: 1, retryCount: retries),
            request: request,
            response: nil,
            data: Data(),
            error: .transport(URLError(code)),
            isReplayable: true
        )
    }

    private static let century = Duration.seconds(3_155_760_000)

    private static func retries(_ retrier: OfflineRetrier, _ failure: FailedAttempt) async -> Bool {
        if case .retry = await retrier.retry(failure) { true } else { false }
    }

    @Test(
        "a request that found no network is sent again when there is one, and fails as it did when there is none in time",
        .rows("B11")
    )
    func offline() async {
        var online = OfflineRetrier(maximumWait: .seconds(100_000), limit: 1) {}
        #expect(await Self.retries(online, Self.failure(.notConnectedToInternet, .post)))
        #expect(await !Self.retries(online, Self.failure(.notConnectedToInternet, .post, retries: 1)))
        #expect(await !Self.retries(online, Self.failure(.networkConnectionLost, .post)))
        #expect(await Self.retries(online, Self.failure(.networkConnectionLost, .get)))
        #expect(await !Self.retries(online, Self.failure(.badServerResponse, .get)))
        online.limit = 2
        #expect(await Self.retries(online, Self.failure(.cannotFindHost, .post, retries: 1)))
        var offline = OfflineRetrier(maximumWait: .seconds(100_000), limit: 1) {
            let (nothing, source) = AsyncStream<Void>.makeStream()
            for await _ in nothing {}
            source.finish()
            throw CancellationError()
        }
        let clock = ImmediateClock()
        offline.clock = clock
        #expect(await !Self.retries(offline, Self.failure(.notConnectedToInternet, .get)))
        // The runtime's clocks trap on so long a wait.
        offline.maximumWait = .seconds(Int64.max)
        #expect(await !Self.retries(offline, Self.failure(.notConnectedToInternet, .get)))
        #expect(clock.slept == [.seconds(100_000), Self.century])
    }

    @Test("a deadline also ends a request that is suspended right after its start", .rows("W13"))
    func suspendedAtOnce() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        // The deadline comes at once.
        manager.clock = ImmediateClock()
        var request = HTTPRequest("delay/10")
        request.options.deadline = .seconds(3600)
        for _ in 0..<20 {
            let transfer = manager.start(request, serializer: .data)
            transfer.suspend()
            #expect(await transfer.response.error?.isTimeout == true)
        }
    }

    @Test("the time until a transfer is resumed does not count for its deadline", .rows("W13"))
    func deadlineOfHeld() async throws {
        let server = try TestServer.start()
        let (manager, other) = (server.manager(), server.manager())
        let clock = ImmediateClock()
        manager.clock = clock
        var request = HTTPRequest("never")
        request.options.deadline = .seconds(100_000)
        let transfer = manager.transfer(request, serializer: .data)
        _ = await other.response(to: "bytes/4", serializer: .data)
        #expect(clock.slept.isEmpty && transfer.control.state == .initialized)
        transfer.resume()
        #expect(await transfer.response.error?.isTimeout == true)
        #expect(clock.slept.count == 1)
    }
}
