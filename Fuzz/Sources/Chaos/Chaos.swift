import Foundation
import UncurlTestServer

/// `Chaos SECONDS [--seed NUMBER] [--tasks NUMBER]` runs tasks of every kind against faulty servers, while disk, memory
/// and time are taken away from the process. It prints what happened, and exits with status 1 if anything was wrong.
///
/// `Chaos store FOLDER KIND [COUNT]` writes to a store and reads it, for tests that kill the process. It exits with
/// status 3 if it reads anything that was never written.
@main
enum Chaos {
    static func main() throws {
        // A write to a closed connection must not end the process.
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

    /// Returns the word after a name, and removes both.
    private static func option(_ name: String, in words: inout [String]) -> String? {
        guard let place = words.firstIndex(of: name), place + 1 < words.count else { return nil }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }
}

/// What the parent tells the walking process, as one line of JSON.
struct Orders: Codable, Sendable {
    var seconds: Int
    var seed: UInt64
    /// The number of tasks that run at a time.
    var tasks: Int
    /// The servers that answer as they are asked to.
    var plain: String
    var secure: String
    /// The servers that play scripts of faults.
    var faulty: String
    var secureFaulty: String
    /// The certificate of the authority that issued the certificates of both servers over TLS.
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
