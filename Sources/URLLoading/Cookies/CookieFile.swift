internal import Foundation
internal import Glibc
internal import UncurlSemantics
internal import UncurlText

/// Cookies on disk: ``SealedJSON`` in one file that only its owner may read. It is a ``StoreFile``, so that a reader
/// finds the old content or the new after any crash. Processes that share it take turns by a lock on a file beside it.
/// Its methods block and are not called on a loop.
struct CookieFile: Sendable {
    enum Failure: Error, Equatable {
        /// EBUSY: another process holds the lock. EFBIG: the file is longer than any that is written here.
        case file(StoreFile.Fault)
        /// The file is not a cookie file, or only part of one.
        case corrupt

        static let busy = Failure.file(StoreFile.Fault(code: EBUSY))
    }

    private struct Content: Codable {
        var version = 1
        var cookies: [CookieJar.Entry]
    }

    /// The longest file that is read, in octets: four times what a full jar of the largest cookies takes.
    private static let maximumSize = 64 << 20

    let path: String

    /// Returns the file's state, which is another one after a process has written the file. Nil if there is no file.
    func state() -> StoreFile.State? { StoreFile.state(path) }

    /// Returns the file's entries and the state it was in; no entries if there is no file.
    func read() throws(Failure) -> (entries: [CookieJar.Entry], state: StoreFile.State?) {
        // The state is read first: if another file takes this one's place meanwhile, that is read the next time.
        guard let state = state() else { return ([], nil) }
        let octets: [UInt8]
        do throws(StoreFile.Fault) {
            octets = try StoreFile.read(path, limit: Self.maximumSize)
        } catch {
            throw .file(error)
        }
        let decoded = Self.decode(octets) ?? FoundationCookieFile.decode(octets, now: CookieStore.now)
        guard let entries = decoded else { throw .corrupt }
        return (entries, state)
    }

    /// Nil for a file that is damaged, or is not a cookie file.
    static func decode(_ octets: [UInt8]) -> [CookieJar.Entry]? {
        guard let json = SealedJSON.content(of: octets), (try? JSONReader.check(json.span)) != nil,
            let content = try? JSONDecoder().decode(Content.self, from: Data(json)), content.version == 1
        else { return nil }
        return content.cookies
    }

    static func encode(_ entries: [CookieJar.Entry]) -> [UInt8]? {
        (try? JSONEncoder().encode(Content(cookies: entries))).flatMap { SealedJSON.closed(Array($0)) }
    }

    /// Moves a file that is ``Failure/corrupt`` away, so that the next one can be written. The caller holds the lock.
    func setAside() { StoreFile.setAside(path) }

    /// The path to which ``setAside()`` moves the file.
    var damagedPath: String { StoreFile.damagedPath(of: path) }

    /// Removes what killed writers have left beside the file.
    func removeLeftovers() { StoreFile.removeLeftoversIfUnlocked(of: path) }

    /// Writes the file, and returns its state after that. The caller holds the lock.
    func write(_ entries: [CookieJar.Entry]) throws(Failure) -> StoreFile.State? {
        guard let octets = Self.encode(entries) else { throw .file(StoreFile.Fault(code: EINVAL)) }
        StoreFile.removeLeftovers(of: path)
        do throws(StoreFile.Fault) {
            try StoreFile.replace(path, with: octets, isDurable: true)
        } catch {
            throw .file(error)
        }
        return state()
    }

    /// Runs `body` while no other process does so with the same file. Waits no longer than `limit` for the lock.
    func locked<Value>(upTo limit: Duration, _ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let outcome: Result<Value, Failure>
        do throws(StoreFile.Fault) {
            try StoreFile.makeDirectory(StoreFile.parent(of: path))
            outcome = try StoreFile.locked(path + ".lock", upTo: limit) { () throws(StoreFile.Fault) in
                Result { () throws(Failure) in try body() }
            }
        } catch {
            throw .file(error)
        }
        return try outcome.get()
    }
}

/// The cookies in FoundationNetworking's file, at the path that the shared storage's file has now: a property list of
/// the cookies' properties by `domain`, `path` and `name`. It is read once: the next change writes our own file in its
/// place.
enum FoundationCookieFile {
    /// The properties of a cookie as FoundationNetworking writes it; nil for another dictionary. It writes only cookies
    /// that outlive the process.
    private static func properties(_ written: [String: Any]) -> CookieProperties? {
        guard let name = written["Name"] as? String, let value = written["Value"] as? String,
            let domain = written["Domain"] as? String, let path = written["Path"] as? String,
            let isSecure = written["Secure"] as? Bool, let version = written["Version"] as? Int,
            // In seconds since 1970.
            let expires = written["Expires"] as? Double
        else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path, .secure: isSecure, .version: version,
            .expires: Date(timeIntervalSince1970: expires), .discard: false,
        ]
        properties[.comment] = written["Comment"] as? String
        properties[.commentURL] = written["CommentURL"] as? String
        properties[.port] = (written["Port"] as? [Int])?.map { NSNumber(value: $0) }
        return CookieProperties(properties)
    }

    /// Returns the cookies; nil if the file is not a property list in XML, which FoundationNetworking writes. A cookie
    /// that cannot be read is left out.
    static func decode(_ octets: [UInt8], now: Double) -> [CookieJar.Entry]? {
        guard let listed = XMLPropertyList.read(Data(octets)) else { return nil }
        return listed.sorted { $0.key < $1.key }.compactMap { _, written in
            (written as? [String: Any]).flatMap(properties)?.cookie(now: now).map {
                CookieJar.Entry(cookie: $0, creation: now, lastAccess: now)
            }
        }
    }
}
