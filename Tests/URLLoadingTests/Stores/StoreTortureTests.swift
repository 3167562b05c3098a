import TestSupport
import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import URLLoading
@testable import UncurlClient

/// Whatever becomes of a file: what is read is what was written, or nothing.
@Suite("Damaged files of the stores", .ownThread, .timeLimit(.minutes(5)))
struct StoreTortureTests {
    /// A kind of file: one that is whole, how it is read, and the octets behind its checksum with a way to put a true one
    /// in front of others.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let whole: [UInt8]
        let read: @Sendable ([UInt8]) -> Bool

        init(_ description: String, _ whole: [UInt8], _ read: @escaping @Sendable ([UInt8]) -> Bool) {
            (testDescription, self.whole, self.read) = (description, whole, read)
        }

        var content: ArraySlice<UInt8> { whole[StoreRecord.headerLength...] }

        /// Puts a true checksum in front of other content.
        func sealed(_ content: some Sequence<UInt8>) -> [UInt8] { sealedRecord(whole, content) }
    }

    static let kinds: [Kind] = {
        do {
            return [
                try record(), try cookies(), try credentials(), try entry(), try ledger(), try download(), try upload(),
            ]
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
            request: request,
            priority: 0.75,
            expectsToSend: 4,
            expectsToReceive: 5
        )
        record.source = "/tmp/source"
        record.state = .finished
        record.part = BackgroundRecord.Part(path: "/tmp/part", validator: "\"v\"", expected: 9, boot: "boot")
        let head = try ResponseHead(status: 201, fields: fields(("ETag", "\"a\"")))
        record.response = HTTPURLResponse(LocatedHead(head, "http://host.test/"), try url("http://host.test/"))
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
            file: StoreFile(inode: .max, size: 9, seconds: -1, nanoseconds: 999_999_999)
        )
        let whole = try #require(record.encoded())
        let back = try #require(BackgroundRecord(whole))
        #expect(back.encoded() == whole && back.request == request && back.response == record.response)
        #expect(back.request.allHTTPHeaderFields == ["X-API-Key": "secret"] && back.request.timeoutInterval == 7)
        #expect(back.outcome?.resumeData == Data("resume".utf8) && back.begun == record.begun)
        #expect(back.upload?.resource == record.upload?.resource && back.upload?.file == record.upload?.file)
        return Kind("record", whole) { BackgroundRecord($0) != nil }
    }

    private static func cookies() throws -> Kind {
        var cookie = Cookie(name: "n", value: "v", domain: "h.test", isHostOnly: false, path: "/p")
        cookie.expires = 4_000_000_000
        cookie.ports = [80]
        cookie.sameSite = .lax
        let entries = [CookieJar.Entry(cookie: cookie, creation: 1, lastAccess: 2)]
        let whole = try #require(StoreRecord.file(.cookies, of: entries))
        #expect(StoreRecord.value(of: whole, .cookies) == entries)
        return Kind("cookies", whole) { StoreRecord.value(of: $0, .cookies, as: [CookieJar.Entry].self) != nil }
    }

    private static func credentials() throws -> Kind {
        let space = ProtectionSpaceValues(host: "h", port: 80, side: .server("http"), realm: "r", method: nil)
        var table = CredentialTable()
        let proof = Credential.Proof.password(user: "alice", password: "päss")
        _ = table.setDefault(Credential(proof: proof, persistence: .permanent), for: space)
        let whole = try #require(StoreRecord.file(.credentials, of: table))
        #expect(StoreRecord.value(of: whole, .credentials) == table)
        return Kind("credentials", whole) {
            StoreRecord.value(of: $0, .credentials, as: CredentialTable.self) != nil
        }
    }

    private static func entry() throws -> Kind {
        let key = CacheKey(method: "GET", url: "http://h/")
        let entry = try CacheEntries.received(fields(("ETag", "\"a\""), ("Vary", "Accept")))
        let whole = try #require(CacheFile.encode(entry, for: key, stored: Date(timeIntervalSince1970: 1)))
        #expect(CacheFile.decode(whole, for: key) == entry)
        return Kind("cache entry", whole) { CacheFile.decode($0, for: key) != nil }
    }

    private static func ledger() throws -> Kind {
        var sum = ContentSum()
        sum.add(Array("content".utf8).span)
        let whole = try #require(StoreRecord.file(.sum, of: sum))
        #expect(StoreRecord.value(of: whole, .sum) == sum && sum.length == 7 && whole.count == ContentSum.fileLength)
        return Kind("ledger", whole) { StoreRecord.value(of: $0, .sum, as: ContentSum.self) != nil }
    }

    private static func download() throws -> Kind {
        let request = URLRequest(url: try url("http://alice@host.test/path?query"))
        let data = ResumeData(request: request, validator: "\"v\"", path: "/tmp/part", received: 5, expected: 9)
        let whole = try #require(data.data)
        #expect(ResumeData(whole)?.data == whole)
        return Kind("resume data", Array(whole)) { ResumeData(Data($0)) != nil }
    }

    private static func upload() throws -> Kind {
        let data = UploadResumeData(
            request: URLRequest(url: try url("http://host.test/path")),
            resource: try url("http://host.test/uploads/7"),
            draft: .six,
            content: .file("/tmp/source", StoreFile(inode: 1, size: 9, seconds: -1, nanoseconds: 999_999_999))
        )
        let whole = try #require(data.data)
        #expect(UploadResumeData(whole)?.data == whole)
        return Kind("upload", Array(whole)) { UploadResumeData(Data($0)) != nil }
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
    func foreign(kind: Kind) {
        let content = Array(kind.content)
        let others = Array(flips(content)) + (0..<content.count).map { Array(content[..<$0]) }
        var refused = 0
        for other in others {
            if !kind.read(kind.sealed(other)) { refused += 1 }
        }
        // Lengths and the like are of no sense then; a letter of a name is as good as another.
        #expect(refused >= content.count && refused < others.count)
    }

    @Test("a file of one kind is not read as one of another", arguments: kinds, kinds)
    func kind(written: Kind, read: Kind) {
        #expect(read.read(written.whole) == (written.testDescription == read.testDescription))
    }
}

/// Returns a file's header with a true checksum, and other content behind it.
func sealedRecord(_ file: [UInt8], _ content: some Sequence<UInt8>) -> [UInt8] {
    let content = Array(content)
    let sum = ContentSum(of: content.span).checksum
    let place = StoreRecord.headerLength - 4
    return file.prefix(place) + (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) } + content
}
