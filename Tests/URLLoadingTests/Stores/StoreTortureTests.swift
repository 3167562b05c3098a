import TestSupport
import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading

/// Whatever becomes of a file: what is read is what was written, or nothing.
@Suite("Damaged files of the stores", .ownThread, .timeLimit(.minutes(5)))
struct StoreTortureTests {
    /// A kind of file: one that is whole, how it is read, and the octets behind its checksum with a way to put a true one
    /// in front of others.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let whole: [UInt8]
        let content: [UInt8]
        let read: @Sendable ([UInt8]) -> Bool
        let seal: @Sendable ([UInt8]) -> [UInt8]?
    }

    static let kinds: [Kind] = {
        do {
            return [try record(), try cookies(), try credentials(), try entry(), try ledger()]
        } catch {
            Issue.record("a file cannot be made: \(error)")
            return []
        }
    }()

    private static func record() throws -> Kind {
        var request = URLRequest(url: try url("http://alice@host.test/path?query"))
        request.httpMethod = "PUT"
        request.setValue("secret", forHTTPHeaderField: "X-API-Key")
        request.httpBody = Data("body".utf8)
        request.timeoutInterval = 7
        request.mainDocumentURL = try url("http://main.test/")
        var record = BackgroundRecord(
            number: 3,
            kind: .upload,
            request: request,
            priority: 0.75,
            expectsToSend: 4,
            expectsToReceive: 5
        )
        record.source = "/tmp/source"
        record.state = .finished
        record.part = BackgroundRecord.Part(path: "/tmp/part", validator: "\"v\"", expected: 9, boot: "boot")
        record.response = HTTPURLResponse(
            url: try url("http://host.test/"),
            head: try ResponseHead(status: 201, fields: fields(("ETag", "\"a\"")))
        )
        record.outcome = BackgroundRecord.Outcome(
            code: -1001,
            reason: "late",
            resumeData: Data("resume".utf8),
            path: "/tmp/whole",
            sum: ContentSum(length: 9, checksum: 7),
            content: Data("content".utf8),
            contentPath: "/tmp/content"
        )
        record.taskDescription = "the task"
        record.beginDate = Date(timeIntervalSince1970: 1_000_000)
        record.begun = Date(timeIntervalSince1970: 2_000_000)
        record.upload = BackgroundRecord.Upload(
            resource: try url("http://host.test/uploads/7"),
            draft: .six,
            file: StoreFile.State(inode: .max, size: 9, seconds: -1, nanoseconds: 999_999_999)
        )
        let whole = try #require(record.encoded())
        let back = try #require(BackgroundRecord(whole))
        #expect(back.encoded() == whole && back.request == request && back.response == record.response)
        #expect(back.request.allHTTPHeaderFields == ["X-API-Key": "secret"] && back.request.timeoutInterval == 7)
        #expect(back.outcome?.resumeData == Data("resume".utf8) && back.begun == record.begun)
        #expect(back.upload?.resource == record.upload?.resource && back.upload?.file == record.upload?.file)
        let seal = StoreSeal(kind: 1, format: 3)
        return Kind(
            testDescription: "record",
            whole: whole,
            content: Array(whole[StoreSeal.length...]),
            read: { BackgroundRecord($0) != nil },
            seal: { seal.closed($0) }
        )
    }

    private static func cookies() throws -> Kind {
        var cookie = Cookie(name: "n", value: "v", domain: "h.test", isHostOnly: false, path: "/p")
        cookie.expires = 4_000_000_000
        cookie.ports = [80]
        cookie.sameSite = .lax
        let entries = [CookieJar.Entry(cookie: cookie, creation: 1, lastAccess: 2)]
        let whole = try #require(CookieFile.encode(entries))
        #expect(CookieFile.decode(whole) == entries)
        return Kind(
            testDescription: "cookies",
            whole: whole,
            content: Array(try #require(SealedJSON.content(of: whole))),
            read: { CookieFile.decode($0) != nil },
            seal: { SealedJSON.closed($0) }
        )
    }

    private static func credentials() throws -> Kind {
        let space = ProtectionSpaceValues(host: "h", port: 80, side: .server("http"), realm: "r", method: nil)
        var table = CredentialTable()
        let proof = Credential.Proof.password(user: "alice", password: "päss")
        _ = table.setDefault(Credential(proof: proof, persistence: .permanent), for: space)
        let whole = try #require(CredentialFile.encode(table))
        #expect(CredentialFile.decode(whole) == table)
        return Kind(
            testDescription: "credentials",
            whole: whole,
            content: Array(try #require(SealedJSON.content(of: whole))),
            read: { CredentialFile.decode($0) != nil },
            seal: { SealedJSON.closed($0) }
        )
    }

    private static func entry() throws -> Kind {
        let key = CacheKey(method: "GET", url: "http://h/")
        let entry = try CacheEntries.received(fields(("ETag", "\"a\""), ("Vary", "Accept")))
        let whole = try #require(CacheFile.encode(entry, for: key, stored: Date(timeIntervalSince1970: 1)))
        #expect(CacheFile.decode(whole, for: key) == entry)
        let seal = StoreSeal(kind: 0, format: 2)
        return Kind(
            testDescription: "cache entry",
            whole: whole,
            content: Array(whole[StoreSeal.length...]),
            read: { CacheFile.decode($0, for: key) != nil },
            seal: { seal.closed($0) }
        )
    }

    private static func ledger() throws -> Kind {
        var sum = ContentSum()
        sum.add(Array("content".utf8).span)
        #expect(ContentSum(encoded: sum.encoded) == sum && sum.length == 7)
        return Kind(
            testDescription: "ledger",
            whole: sum.encoded,
            content: Array(sum.encoded.prefix(12)),
            read: { ContentSum(encoded: $0) != nil },
            seal: { content in
                guard content.count == 12 else { return content }
                var own = ContentSum()
                own.add(content.span)
                var writer = OctetWriter()
                writer.append(content)
                writer.put(own.checksum)
                return writer.bytes
            }
        )
    }

    /// Each with one bit the other way.
    private func flips(_ bytes: [UInt8]) -> some Sequence<[UInt8]> {
        (0..<bytes.count * 8).lazy.map { place in
            var flipped = bytes
            flipped[place / 8] ^= 1 << UInt8(place % 8)
            return flipped
        }
    }

    @Test("a file with any bit flipped is not read", arguments: kinds)
    func flipped(kind: Kind) {
        #expect(kind.read(kind.whole))
        for (place, bytes) in flips(kind.whole).enumerated() where kind.read(bytes) {
            Issue.record("bit \(place % 8) of octet \(place / 8)")
        }
    }

    @Test("a file cut at any octet, or with more appended, is not read", arguments: kinds)
    func cut(kind: Kind) {
        for length in 0..<kind.whole.count where kind.read(Array(kind.whole[..<length])) {
            Issue.record("\(length) octets")
        }
        for more in [[0], Array("\n".utf8), kind.whole] { #expect(!kind.read(kind.whole + more)) }
    }

    @Test("content that no program of ours has written is read, or refused, and ends no process", arguments: kinds)
    func foreign(kind: Kind) throws {
        let others = Array(flips(kind.content)) + (0..<kind.content.count).map { Array(kind.content[..<$0]) }
        var refused = 0
        for content in others {
            let bytes = try #require(kind.seal(content))
            if !kind.read(bytes) { refused += 1 }
        }
        // Lengths and the like are of no sense then; a letter of a name is as good as another.
        #expect(refused >= kind.content.count && refused < others.count)
    }

    @Test("a file of one kind is not read as one of another", arguments: kinds, kinds)
    func kind(written: Kind, read: Kind) {
        #expect(read.read(written.whole) == (written.testDescription == read.testDescription))
    }
}
