import Foundation
import Testing
import UncurlClient
import UncurlEngine
import UncurlReactor
import UncurlSemantics

@testable import URLLoading

@Suite("Uncurl's properties of a request, as octets")
struct KeptMessagesTests {
    private func record(_ change: (inout RequestValues) throws -> Void) throws -> BackgroundRecord {
        var record = BackgroundRecord(
            number: 1,
            request: URLRequest(url: try url("http://h.test/")),
            priority: 0.5,
            expectsToSend: -1,
            expectsToReceive: -1
        )
        try change(&record.request.values)
        return record
    }

    private func read(_ record: BackgroundRecord) throws -> RequestValues {
        try #require(record.encoded().flatMap { BackgroundRecord($0) }).request.values
    }

    private static func proxies(_ host: String, _ credentials: Credentials?) throws -> OriginProxies {
        OriginProxies(
            http: Proxy(.http, host: try URLHost(host), port: 3128, credentials: credentials, isPreemptive: true),
            https: Proxy(.socks5h, host: try URLHost(host), port: 65535, tunnelsAll: true)
        )
    }

    private static func everyTerm() throws -> [TransferTerms] {
        let rate = TransferRate(bytesPerSecond: 1 << 40, burst: 7)
        let changes: [(inout TransferTerms) throws -> Void] = [
            { $0.rates = TransferRates(sending: rate) },
            { $0.rates = TransferRates(receiving: rate) },
            { $0.connectLimit = 0.25 },
            { $0.firstByteLimit = .infinity },
            { $0.endpoint = .origin },
            { $0.endpoint = .host("::1", port: 81) },
            { $0.proxies = .direct },
            { $0.proxies = try proxies("proxy.test", Credentials(user: "ü", password: "")) },
            { $0.proxies = try proxies("::1", nil) },
            { $0.responseLimits = ResponseLimits() },
            {
                var limits = ResponseLimits()
                (limits.headLength, limits.fieldLength, limits.fieldCount) = (1, 2, 3)
                (limits.informationalCount, limits.chunkExtensionLength, limits.redirectCount) = (4, 5, 6)
                $0.responseLimits = limits
            },
        ]
        var all = TransferTerms()
        for change in changes { try change(&all) }
        return try [all]
            + changes.map { change in
                var terms = TransferTerms()
                try change(&terms)
                return terms
            }
    }

    @Test("the record of a background task keeps its request's terms", arguments: [true, false])
    func terms(hasLeftOrigin: Bool) throws {
        for terms in try Self.everyTerm() {
            let read = try read(
                record { values in
                    values.terms = [terms]
                    values.hasLeftOrigin = hasLeftOrigin
                }
            )
            #expect(terms.isWritable && read.terms == [terms] && read.hasLeftOrigin == hasLeftOrigin)
        }
    }

    @Test("the record of a background task keeps its request's limit on data, and whether a GET's content is sent")
    func options() throws {
        let limited = try read(record { $0.maximumDataLength = 0 })
        #expect(limited.maximumDataLength == 0 && !limited.sendsContentWithGET && limited.terms.isEmpty)
        let sent = try read(record { $0.sendsContentWithGET = true })
        #expect(sent.maximumDataLength == nil && sent.sendsContentWithGET && sent.terms.isEmpty)
    }

    @Test("octets that are no terms make no record")
    func damaged() throws {
        let terms = try Self.everyTerm()[0]
        let whole = try #require(record { $0.terms = [terms] }.encoded())
        let content = Array(whole[StoreRecord.headerLength...])
        for count in 0..<content.count { #expect(BackgroundRecord(sealedRecord(whole, content[..<count])) == nil) }
        for index in content.indices {
            var changed = content
            changed[index] = 0xFF
            // Some are other terms.
            if let read = BackgroundRecord(sealedRecord(whole, changed)) {
                #expect(read.encoded().flatMap { BackgroundRecord($0) } != nil)
            }
        }
    }

    @Test("resume data have none of them, and no content")
    func resumption() throws {
        var values = RequestValues(url: try url("http://h.test/"))
        (values.cachePolicy, values.explicitTimeout) = (.reloadIgnoringLocalCacheData, 7)
        values.hasLeftOrigin = true
        let kept = StoreRecord.file(.download, of: values)
        values.terms = [try Self.everyTerm()[0]]
        (values.maximumDataLength, values.sendsContentWithGET, values.httpBody) = (1, true, Data([1]))
        #expect(StoreRecord.file(.download, of: values.forResumption) == kept && kept != nil)
    }

    @Test("an address to connect to and exceptions from a proxy cannot be written")
    func unwritable() throws {
        var address = TransferTerms()
        address.endpoint = .address(.loopback(port: 80))
        var exceptions = TransferTerms()
        exceptions.proxies = OriginProxies(exceptions: ProxyExceptions("h.test"))
        #expect(!address.isWritable && !exceptions.isWritable)
        #expect(try record { $0.terms = [address] }.encoded() == nil)
    }
}
