import Foundation
import TestServer
import TestSupport
import Testing

@testable import URLLoading

@Suite("TransactionFacts", .timeLimit(.minutes(5)))
struct TransactionFactsTests {
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
}
