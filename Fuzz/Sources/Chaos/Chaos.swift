import Foundation
import TestServer

/// `Chaos SECONDS [--seed NUMBER] [--tasks NUMBER]`: tasks of every kind against faulty servers, while the machine is
/// taken away from them.
/// Prints what happened in plain English, and ends with status 1 if anything was wrong.
/// `Chaos store FOLDER KIND [COUNT]`: writes to a store and reads it, for tests that kill it; status 3 for what was
/// never written.
@main
enum Chaos {
    static func main() throws {
        // A peer that has gone must not end us.
        signal(SIGPIPE, SIG_IGN)
        var words = Array(CommandLine.arguments.dropFirst())
        let seed = option("--seed", in: &words).flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1 << 32)
        let tasks = option("--tasks", in: &words).flatMap { Int($0) } ?? 100
        switch words.first {
        case "walk" where words.count == 3:
            guard let orders = Orders(words[1]) else { return usage() }
            exit(Walk(orders, folder: words[2]).run() ? 0 : 1)
        case "store" where words.count >= 3:
            guard var writer = StoreWriter(words[1], kind: words[2], seed: seed) else { return usage() }
            guard let wrong = writer.run(words.count > 3 ? Int(words[3]) : nil) else { return }
            print(wrong)
            exit(3)
        case let text?:
            guard let seconds = Int(text), seconds > 0 else { return usage() }
            exit(try Supervisor(seconds: seconds, seed: seed, tasks: tasks).run() ? 0 : 1)
        case nil: usage()
        }
    }

    private static func usage() {
        print("usage: Chaos SECONDS [--seed NUMBER] [--tasks NUMBER] | Chaos store FOLDER KIND [COUNT]")
        exit(2)
    }

    /// The word behind a name; both are taken out.
    private static func option(_ name: String, in words: inout [String]) -> String? {
        guard let place = words.firstIndex(of: name), place + 1 < words.count else { return nil }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }
}

/// What the walking process is told by its parent, as one line of JSON.
struct Orders: Codable, Sendable {
    var seconds: Int
    var seed: UInt64
    /// How many tasks are under way at a time.
    var tasks: Int
    var plain: String
    var secure: String
    /// The servers that play scripts of faults.
    var faulty: String
    var secureFaulty: String
    /// The certificate of the authority that both servers over TLS are from.
    var authority: String

    init?(_ text: String) {
        guard let orders = try? JSONDecoder().decode(Orders.self, from: Data(text.utf8)) else { return nil }
        self = orders
    }

    init(_ seconds: Int, _ seed: UInt64, _ tasks: Int, _ servers: ChaosServers) {
        (self.seconds, self.seed, self.tasks) = (seconds, seed, tasks)
        (plain, secure) = (servers.plain.url(""), servers.secure.url("", host: "localhost"))
        (faulty, secureFaulty) = (servers.faulty.url(), servers.secureFaulty.url())
        authority = servers.authority
    }

    var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
