import Foundation
import Uncurl

/// Writes to a store and reads all of it, again and again, until the process is killed. Other processes do the same
/// with the same files. Each entry that is read must be one that a process has written. A missing entry is no fault.
struct StoreWriter {
    enum Kind: String, CaseIterable { case cache, cookies, credentials }

    private let folder: String
    private let kind: Kind
    private var dice: Dice

    /// Nil for an unknown kind.
    init?(_ folder: String, kind: String, seed: UInt64) {
        guard let kind = Kind(rawValue: kind) else { return nil }
        (self.folder, self.kind, dice) = (folder, kind, Dice(seed: seed))
    }

    /// Writes and reads as often as the limit says; forever if it is nil. Returns what was wrong, or nil.
    mutating func run(_ limit: Int?) -> String? {
        let cache = URLCache(
            memoryCapacity: 0,
            diskCapacity: 4 << 20,
            directory: URL(fileURLWithPath: folder + "/cache")
        )
        var count = 0
        while limit.map({ count < $0 }) ?? true {
            count += 1
            let wrong =
                switch kind {
                case .cache: step(cache)
                case .cookies: step(HTTPCookieStorage.shared)
                case .credentials: step(URLCredentialStorage.shared)
                }
            if let wrong { return "\(kind.rawValue): \(wrong)" }
        }
        return nil
    }

    /// The number of names. The value of a name is random. It holds the name and a checksum, so that a mixed-up or cut
    /// value is detected.
    private static let names = 24

    private mutating func value(of name: Int, length: Int) -> String {
        let text = "\(name).\(dice.below(1 << 30))." + String(repeating: "x", count: dice.below(length))
        return text + ".\(sum(text))"
    }

    private func isWhole(_ value: String, of name: Int) -> Bool {
        guard let dot = value.lastIndex(of: ".") else { return false }
        let text = String(value[..<dot])
        return text.hasPrefix("\(name).") && value.hasSuffix(".\(sum(text))")
    }

    /// FNV-1a.
    private func sum(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private mutating func step(_ cache: URLCache) -> String? {
        func request(_ name: Int) -> URLRequest? { URL(string: "http://a.test/\(name)").map { URLRequest(url: $0) } }
        let name = dice.below(Self.names)
        if let request = request(name), let url = request.url {
            let fields = ["Cache-Control": "max-age=1000", "X-Name": "\(name)"]
            let answer = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            let content = Data(value(of: name, length: 20_000).utf8)
            if let answer {
                cache.storeCachedResponse(CachedURLResponse(response: answer, data: content), for: request)
            }
        }
        for name in 0..<Self.names {
            guard let request = request(name), let found = cache.cachedResponse(for: request) else { continue }
            let field = (found.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Name")
            guard field == "\(name)", isWhole(String(decoding: found.data, as: UTF8.self), of: name) else {
                return "entry \(name) has another's head, or content that was not written"
            }
        }
        return nil
    }

    private mutating func step(_ storage: HTTPCookieStorage) -> String? {
        let name = dice.below(Self.names)
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "c\(name)", .value: value(of: name, length: 200), .domain: "a.test", .path: "/",
            .expires: Date(timeIntervalSinceNow: 10_000),
        ]
        if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
        for cookie in storage.cookies ?? [] {
            guard let name = Int(cookie.name.dropFirst()), isWhole(cookie.value, of: name) else {
                return "\(cookie.name) has a value that was not written"
            }
        }
        return nil
    }

    private mutating func step(_ storage: URLCredentialStorage) -> String? {
        let name = dice.below(Self.names)
        let space = URLProtectionSpace(
            host: "a\(name).test",
            port: 443,
            protocol: "https",
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let password = value(of: name, length: 200)
        storage.set(URLCredential(user: "u\(name)", password: password, persistence: .permanent), for: space)
        for (space, known) in storage.allCredentials {
            for (user, credential) in known {
                guard let name = Int(user.dropFirst()), space.host == "a\(name).test",
                    credential.password.map({ isWhole($0, of: name) }) ?? false
                else { return "\(user) at \(space.host) has a password that was not written" }
            }
        }
        return nil
    }
}
