import Foundation
import TestSupport

/// A program of the documents' blocks, compiled against the modules that the tests themselves were built with.
struct ArticleProgram {
    private static let modules = [
        "TextCoding", "HTTP1", "HTTPSemantics", "Reactor", "TLS", "WebSocket", "HTTPEngine", "URLLoading", "Uncurl",
        "UncurlExtras", "TestServer",
    ]

    private let root: URL
    private let folder: URL
    private var files: [String] = []
    private var calls: [String] = []

    init(in folder: URL, of root: URL) throws {
        (self.root, self.folder) = (root, folder)
        try add("given.swift", Self.given)
    }

    mutating func add(_ group: ArticleBlocks.Group) throws {
        let name = "article\(calls.count)"
        try add(name + ".swift", group.function(name))
        calls.append("(\"\(group.document)\", \(name))")
    }

    private mutating func add(_ name: String, _ text: String) throws {
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        files.append(file.path)
    }

    /// Compiles and links it. The compiler's words are what it prints.
    mutating func build() throws -> EndedProgram {
        try add("main.swift", Self.main(calls))
        let built = URL(fileURLWithPath: EndedProgram.built("")).path
        var words = ["swiftc", "-swift-version", "6", "-suppress-warnings", "-o", program] + files
        words += Self.places(of: root, in: built)
        for module in Self.modules { words += objects(of: module, in: built) }
        words += ["/CLinux.build/CLinux.c.o", "/CPublicSuffixes.build/public_suffixes.c.o"].map { built + $0 }
        words += ["-lssl", "-lcrypto", "-lz"]
        return try EndedProgram("/usr/bin/env", words)
    }

    /// Compiles the blocks of one group without linking or running them.
    static func check(_ group: ArticleBlocks.Group, in folder: URL, of root: URL) throws -> EndedProgram {
        let file = folder.appendingPathComponent("checked.swift")
        try Data(group.bareFunction("checked", importing: "LoadGenerator").utf8).write(to: file)
        let built = URL(fileURLWithPath: EndedProgram.built("")).path
        let words = ["swiftc", "-typecheck", "-swift-version", "6", "-suppress-warnings", file.path]
        return try EndedProgram("/usr/bin/env", words + places(of: root, in: built))
    }

    /// Where the compiler finds the modules, and the C that they import.
    private static func places(of root: URL, in built: String) -> [String] {
        var words = [
            "-I", built + "/Modules", "-I", root.path + "/Sources/COpenSSL", "-I", root.path + "/Sources/CZlib",
        ]
        let maps = ["CLinux", "CPublicSuffixes"].map { "\(built)/\($0).build/module.modulemap" }
        let shims = root.path + "/.build/checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap"
        for map in maps + [shims] where FileManager.default.fileExists(atPath: map) {
            words += ["-Xcc", "-fmodule-map-file=\(map)"]
        }
        return words
    }

    func run() throws -> EndedProgram {
        // A background session keeps its journal there.
        try EndedProgram("/usr/bin/env", ["XDG_STATE_HOME=\(folder.path)/state", program])
    }

    private var program: String { folder.appendingPathComponent("articles").path }

    /// By the names of the sources that there are: the folder may hold objects of others, from before.
    private func objects(of module: String, in built: String) -> [String] {
        let sources = FileManager.default.enumerator(atPath: root.path + "/Sources/" + module)
        return (sources?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".swift") }
            .map { "\(built)/\(module).build/\(URL(fileURLWithPath: $0).lastPathComponent).o" }
    }

    /// What the blocks speak of without declaring it, and a server that answers every request.
    private static let given = #"""
        import HTTP1
        import HTTPEngine
        import Reactor
        import Synchronization
        import TestServer
        import Uncurl

        struct User: Codable, Sendable { var name = "Ada" }
        struct Answer: Codable, Sendable {}

        final class Given: Sendable {
            private let server: RawServer
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
            let failures = Mutex<[String]>([])

            init() {
                let content = "{\"name\": \"Ada\"}"
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                let answer = "\(head)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
                do {
                    server = try RawServer.start([], otherwise: [.receive(.headEnd), .send(answer), .finish])
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                    try Data("photo".utf8).write(to: photo)
                } catch {
                    fatalError("\(error)")
                }
            }

            var base: String { server.url("") }
            var photo: URL { folder.appendingPathComponent("photo.png") }
            var place: URL { folder.appendingPathComponent("place") }
            var url: URL { URL(string: base + "/x")! }

            /// Its requests' failures are the program's.
            func manager() -> HTTPSessionManager {
                let manager = HTTPSessionManager(baseURL: URL(string: base + "/v1"))
                manager.monitors = [
                    ClosureEventMonitor { event in
                        guard case .finished(_, let error?, _) = event.kind else { return }
                        given.failures.withLock { $0.append(error.localizedDescription) }
                    }
                ]
                return manager
            }
        }

        let given = Given()

        /// Stops its loop when the exchange is over.
        final class Printer: ExchangeDelegate {
            private let loop: EventLoop
            init(stopping loop: EventLoop) { self.loop = loop }
            func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}
            func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}
            func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
                if case .completed = outcome {} else { given.failures.withLock { $0.append("\(outcome)") } }
                loop.stop()
            }
        }
        """#

    private static func main(_ calls: [String]) -> String {
        """
        import Uncurl

        let articles: [(String, () async throws -> Void)] = [\(calls.joined(separator: ", "))]
        var failures: [String] = []
        for (name, article) in articles {
            do { try await article() } catch { failures.append("\\(name): \\(error)") }
            failures += given.failures.withLock { told in
                defer { told = [] }
                return told.map { "\\(name): \\($0)" }
            }
        }
        try? FileManager.default.removeItem(at: given.folder)
        for failure in failures { print("failed:", failure) }
        exit(failures.isEmpty ? 0 : 1)
        """
    }
}
