import Foundation

/// What a task requests, and which outcomes are right.
struct Errand: Sendable {
    /// What must be true if the task reports a whole answer.
    enum Promise: Sendable {
        /// The content is the alphabet, repeated up to this number of letters.
        case alphabet(Int)
        /// Any answer is right.
        case anything
        /// The server cuts its answer, or never answers: the task must fail.
        case failure
    }

    let url: URL
    let promise: Promise
    let name: String

    private init(_ base: String, _ path: String, _ promise: Promise, _ name: String) {
        // The bases are URLs of the servers here, and the paths are those below: the text is always a URL.
        url = URL(string: base + path) ?? URL(fileURLWithPath: "/")
        (self.promise, self.name) = (promise, name)
    }

    static func random(_ orders: Orders, _ dice: inout Dice) -> Errand {
        let good = dice.chance(50) ? orders.plain : orders.secure
        let bad = dice.chance(50) ? orders.faulty : orders.secureFaulty
        switch dice.below(20) {
        case 0...5:
            let size = [0, 1, 1_000, 40_000, 300_000, 2_000_000][dice.below(6)]
            return Errand(good, "/range/\(size)", size == 0 ? .anything : .alphabet(size), "whole")
        case 6: return Errand(good, "/gzip", .anything, "gzip")
        case 7: return Errand(good, "/redirect/\(dice.below(4))", .anything, "redirect")
        case 8: return Errand(good, "/latency?from=1&to=300", .anything, "late")
        case 9: return Errand(good, "/drip?duration=0.3&numbytes=2000", .anything, "drip")
        case 10: return Errand(good, "/reset?after=\(dice.below(900_000))", .failure, "reset")
        case 11: return Errand(good, "/truncate?after=\(dice.below(900_000))", .failure, "truncated")
        case 12:
            return dice.chance(40)
                ? Errand(good, "/never", .failure, "never") : Errand(good, "/uuid", .anything, "uuid")
        case 13: return Errand(good, "/basic-auth/a/b", .anything, "challenge")
        case 14: return Errand(good, "/cache/60?\(dice.below(50))", .anything, "cached")
        case 15: return Errand(good, "/cookies/set?a=\(dice.below(9))", .anything, "cookie")
        // Nothing listens on port 1.
        case 16: return Errand("http://127.0.0.1:1", "/", .failure, "refused")
        default: return Errand(bad, "/\(dice.below(30))", .anything, "faulty")
        }
    }

    /// The route that echoes WebSocket messages.
    static func webSocket(_ orders: Orders, _ dice: inout Dice) -> Errand {
        let base = [orders.plain, orders.plain, orders.secure, orders.faulty, orders.secureFaulty][dice.below(5)]
        return Errand("ws" + base.dropFirst(4), "/websocket", .anything, "WebSocket")
    }

    private static let alphabet = Data((0..<2_000_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })

    /// Returns why an answer that was reported as whole is wrong. Nil if it is right.
    func complaint(_ status: Int?, _ content: Data) -> String? {
        switch promise {
        case .anything: return nil
        case .failure: return "\(name): an answer that was cut or never given is reported as whole (\(status ?? 0))"
        case .alphabet(let size):
            guard status == 200 else { return "\(name): status \(status ?? 0)" }
            guard content.count == size else {
                return "\(name): \(content.count) octets of \(size) are reported as whole"
            }
            return content == Self.alphabet.prefix(size) ? nil : "\(name): the content is another's"
        }
    }
}
