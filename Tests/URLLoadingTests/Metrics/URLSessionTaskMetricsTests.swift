import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlEngine
@testable import UncurlReactor

@Suite("Transaction metrics", .timeLimit(.minutes(5)))
struct TransactionMetricsTests {
    @Test("the framing of chunks counts as content of the request and the response, not as their heads")
    func framing() async throws {
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let content = "2\r\nok\r\n0\r\nTrailer-Field: 1\r\n\r\n"
        let server = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(15)), .send(hint), .send(head), .send(content)]
        ])
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/")))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("hello".utf8))
        session.dataTask(with: request).resume()
        await recorder.end()
        let sent = String(decoding: server.received(0), as: UTF8.self)
        let sentContent = "5\r\nhello\r\n0\r\n\r\n"
        #expect(sent.hasSuffix("\r\n\r\n" + sentContent))
        let transaction = try #require(recorder.told.metrics?.transactionMetrics.first)
        #expect(transaction.countOfRequestHeaderBytesSent == Int64(sent.utf8.count - sentContent.utf8.count))
        #expect(transaction.countOfRequestBodyBytesSent == Int64(sentContent.utf8.count))
        #expect(transaction.countOfRequestBodyBytesBeforeEncoding == 5)
        #expect(transaction.countOfResponseHeaderBytesReceived == Int64(hint.utf8.count + head.utf8.count))
        #expect(transaction.countOfResponseBodyBytesReceived == Int64(content.utf8.count))
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == 2)
    }

    /// The dates that a transaction has, in the order of its phases.
    private func dates(_ transaction: URLSessionTaskTransactionMetrics) -> [Date] {
        [
            transaction.fetchStartDate, transaction.domainLookupStartDate, transaction.domainLookupEndDate,
            transaction.connectStartDate, transaction.secureConnectionStartDate, transaction.secureConnectionEndDate,
            transaction.connectEndDate, transaction.requestStartDate, transaction.requestEndDate,
            transaction.responseStartDate, transaction.responseEndDate,
        ].compactMap(\.self)
    }

    private func expectOrder(_ metrics: URLSessionTaskMetrics) {
        for transaction in metrics.transactionMetrics {
            let dates = dates(transaction)
            #expect(dates == dates.sorted())
            #expect(dates.allSatisfy(metrics.taskInterval.contains))
        }
    }

    private func load(
        _ session: URLSession,
        _ address: String,
        by recorder: Recorder = Recorder(trusting)
    ) async throws -> URLSessionTaskMetrics {
        _ = try await session.data(from: try url(address), delegate: recorder)
        return try #require(recorder.told.metrics)
    }

    private static let trusting: Recorder.Answers = {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        return answers
    }()

    @Test("the first load's dates rise from the look-up to the answer; a reused connection has no dates of its making")
    func phases() async throws {
        let context = try TLSServerContext(TLSServerConfiguration(try TestCertificates.localhost))
        let server = try TestServer.start(tls: context)
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let address = server.url("/bytes/10", host: "localhost")
        // The connection is that of the delegate which trusts the server.
        let recorder = Recorder(Self.trusting)
        let first = try await load(session, address, by: recorder)
        let second = try await load(session, address, by: recorder)
        for metrics in [first, second] {
            expectOrder(metrics)
            let transaction = try #require(metrics.transactionMetrics.first)
            #expect(metrics.transactionMetrics.count == 1)
            #expect(!transaction.isProxyConnection)
            #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13)
            #expect(transaction.negotiatedTLSCipherSuite != nil)
        }
        let (made, reused) = (first.transactionMetrics[0], second.transactionMetrics[0])
        // The address of `localhost` is not looked up.
        #expect(!made.isReusedConnection && dates(made).count == 9)
        #expect(reused.isReusedConnection && dates(reused).count == 5)
        #expect(reused.domainLookupStartDate == nil && reused.domainLookupEndDate == nil)
        #expect(reused.connectStartDate == nil && reused.connectEndDate == nil)
        #expect(reused.secureConnectionStartDate == nil && reused.secureConnectionEndDate == nil)
    }

    @Test("a new connection's look-up has dates, before those of the connect; a reused connection's has none")
    func lookup() throws {
        let start = Instant.current()
        let instants = (0..<4).map { start.advanced(by: .seconds($0)) }
        let timings = ConnectTimings(
            lookupStart: instants[0],
            lookupEnd: instants[1],
            connectStart: instants[2],
            connectEnd: instants[3],
            address: .loopback(),
            attempts: 1
        )
        var report = ExchangeReport(start: start)
        report.connection = ConnectionRecord(timings, HandshakeTimings(), nil, nil, nil)
        let (date, request) = (start.dates(), URLRequest(url: try url("http://h.test/")))
        var facts = URLSessionTaskTransactionMetrics(request, report, nil, date)
        #expect(facts.domainLookupStartDate == date(instants[0]))
        #expect(facts.domainLookupEndDate == date(instants[1]))
        #expect(facts.connectStartDate == date(instants[2]) && facts.connectEndDate == date(instants[3]))
        report.reusedConnection = true
        facts = URLSessionTaskTransactionMetrics(request, report, nil, date)
        #expect(facts.domainLookupStartDate == nil && facts.domainLookupEndDate == nil && facts.connectEndDate == nil)
    }

    @Test("a load through a proxy says so")
    func proxy() async throws {
        let proxy = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
        ]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let metrics = try await load(session, "http://origin.test/")
        expectOrder(metrics)
        #expect(metrics.transactionMetrics.map(\.isProxyConnection) == [true])
        #expect(metrics.transactionMetrics.first?.remotePort == "\(proxy.port)")
        #expect(metrics.transactionMetrics.first?.negotiatedTLSCipherSuite == nil)
    }

    @Test("all dates are within the task's interval, also of a task that begins late in a long turn of the loop")
    func lateInTurn() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let address = server.url("/bytes/10")
        // The context of the loop and its connection are made.
        expectOrder(try await load(session, address))
        let (gate, recorder) = (Gate(), Recorder())
        let task = session.dataTask(with: try url(address))
        task.delegate = recorder
        session.post { _ in gate.wait() }
        // Both come in the turn after the gate's.
        session.post { _ in
            let end = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < end {}
        }
        task.resume()
        gate.open()
        await recorder.end()
        expectOrder(try #require(recorder.told.metrics))
    }
}
