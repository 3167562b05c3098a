import TestSupport
import Testing

/// Which rooms there are, and which way the arrows point.
@Suite("Rooms", .ownThread)
struct RoomTests {
    /// What a room's files may import. An arrow is an import; none goes up or sideways.
    private static let allowed: [String: Set<String>] = [
        // Bytes and messages: knows neither sockets nor clocks, and needs not even the C library.
        "HTTP1": [],
        // Text and bytes, once for all rooms: knows nothing at all.
        "TextCoding": [],
        "Reactor": ["CLinux", "Synchronization"],
        // Sans-IO: ciphertext in, ciphertext out; files only where a program names one.
        "TLS": ["TextCoding", "COpenSSL", "Glibc", "Synchronization"],
        // Sans-IO as well, for both ends: octets and messages.
        "WebSocket": ["TextCoding", "CZlib"],
        // What messages mean: policy, without sockets or a clock. Of TLS only the hash functions, which are OpenSSL's.
        "HTTPSemantics": ["TextCoding", "HTTP1", "TLS", "CPublicSuffixes"],
        "HTTPEngine": [
            "TextCoding", "HTTPSemantics", "Reactor", "HTTP1", "TLS", "WebSocket", "CZlib", "CLinux", "Synchronization",
            // Behind package traits.
            "CBrotli", "CZstd",
        ],
        // Foundation's loading classes: the lowest room that speaks Foundation.
        "URLLoading": [
            "Foundation", "FoundationEssentials", "Dispatch", "HTTPEngine", "HTTPSemantics", "HTTP1", "Reactor", "TLS",
            "WebSocket", "TextCoding", "CZlib", "Glibc", "Synchronization",
            // By package traits, off unless asked for.
            "HTTPTypes", "Logging", "Metrics", "Tracing", "Instrumentation",
        ],
        // The module FoundationNetworking of an installation.
        "DropIn": ["URLLoading", "Foundation"],
        // What people type. Below it lies Foundation's vocabulary, and of the engine what a policy decides on.
        "Uncurl": [
            "URLLoading", "Foundation", "FoundationEssentials", "Dispatch", "HTTPEngine", "HTTPSemantics", "HTTP1",
            "WebSocket", "Reactor", "TLS", "TextCoding", "CZlib", "Glibc", "Synchronization",
            // By package traits, off unless asked for.
            "Logging", "Metrics", "Tracing", "Instrumentation",
        ],
        // What applications show: images, progress, activity.
        "UncurlExtras": ["Uncurl", "Foundation", "Dispatch", "CZlib", "Glibc", "Synchronization"],
        // libxml2 comes with FoundationXML: a room of its own, for programs that import it.
        "UncurlXML": ["Uncurl", "Foundation", "FoundationXML", "Synchronization"],
        "UncurlTestKit": ["Uncurl", "TextCoding", "Foundation", "Dispatch", "Glibc", "Synchronization"],
        // Never the engine: a client must not be tested against itself.
        "TestServer": [
            "TextCoding", "TLS", "Reactor", "HTTP1", "WebSocket", "CZlib", "COpenSSL", "CLinux", "Glibc",
            "Synchronization",
        ],
        "httpbin": ["TestServer", "TLS", "Reactor", "HTTP1", "CLinux", "Glibc", "ArgumentParser"],
        // The smallest program on the engine: no package, so that its `ldd` shows what the engine brings.
        "fetch": ["HTTPEngine", "HTTP1", "Reactor", "TLS", "Glibc"],
        // The load tester without its command line.
        "LoadGenerator": [
            "TextCoding", "HTTPEngine", "HTTPSemantics", "WebSocket", "HTTP1", "Reactor", "TLS", "TestServer", "CLinux",
            "CZlib", "Glibc",
            "Synchronization",
            "Histogram",
        ],
        // What is written of a run, and read again.
        "LoadReports": [
            "TextCoding", "LoadGenerator", "HTTPEngine", "HTTP1", "Reactor", "TLS", "CLinux", "Glibc",
            "Synchronization",
        ],
        // A Locust master's words, and a run that follows them.
        "LocustWorker": ["LoadGenerator", "HTTPEngine", "Reactor", "TLS", "CLinux", "Glibc"],
        "volley": [
            "TextCoding", "LoadGenerator", "LoadReports", "LocustWorker", "HTTPEngine", "HTTPSemantics", "HTTP1",
            "Reactor",
            "TLS",
            "TestServer",
            "CLinux",
            "Glibc", "ArgumentParser",
        ],
        // Programs that show how a library is used; each imports what it shows.
        "Examples": [
            "LoadGenerator", "LoadReports", "Uncurl", "UncurlExtras", "TestServer", "TLS", "Synchronization",
        ],
    ]

    /// Rooms of C declarations alone.
    private static let systemRooms: Set<String> = [
        "CBrotli", "CLinux", "CPublicSuffixes", "CZlib", "CZstd", "COpenSSL",
    ]

    private static let files = SourceTree.sources

    @Test("every folder in Sources is a room this test knows, and none is empty")
    func roomsAreKnown() {
        let folders = Set(SourceTree.folders(in: "Sources"))
        #expect(folders == Set(Self.allowed.keys).union(Self.systemRooms))
        for room in Self.allowed.keys { #expect(Self.files.contains { $0.room == room }, "\(room) is empty") }
        #expect(!Self.files.contains { Self.systemRooms.contains($0.room) })
    }

    @Test("a room imports only the rooms below it")
    func imports() {
        for file in Self.files {
            let imports = Set(SwiftText.imports(file.code))
            let stray = imports.subtracting(Self.allowed[file.room] ?? [])
            #expect(stray.isEmpty, "\(file) imports \(stray.sorted())")
        }
    }

    @Test("no room below URLLoading links Foundation, whatever its table says")
    func noFoundation() {
        let above: Set = ["URLLoading", "DropIn", "Uncurl", "UncurlExtras", "UncurlXML", "UncurlTestKit"]
        for (room, modules) in Self.allowed where !above.contains(room) {
            #expect(!modules.contains { $0.hasPrefix("Foundation") }, "\(room)")
        }
    }

    /// The one server of its room: nothing else there needs the module's name before it.
    private static let namesakes: Set<String> = ["TestServer"]

    @Test("no type bears a module's name: Reactor.Reactor would make the module unspeakable")
    func typeNames() {
        let modules = Set(SourceTree.folders(in: "Sources")).subtracting(Self.namesakes)
        for file in Self.files {
            let words = file.words
            for (keyword, name) in zip(words, words.dropFirst())
            where ["struct", "class", "enum", "actor", "protocol", "typealias"].contains(keyword) {
                #expect(!modules.contains(String(name)), "\(file) declares \(name)")
            }
        }
    }

    @Test(
        "every room is tested by a target of its own",
        arguments: [
            "TextCoding", "HTTP1", "Reactor", "TLS", "WebSocket", "HTTPSemantics", "HTTPEngine", "URLLoading", "Uncurl",
            "UncurlExtras", "UncurlXML", "UncurlTestKit", "TestServer", "LoadGenerator", "LoadReports", "LocustWorker",
            "volley", "fetch",
        ]
    )
    func roomsAreTested(room: String) {
        let target = "Tests/\(room.prefix(1).uppercased())\(room.dropFirst())Tests"
        #expect(SourceTree.swiftFiles(in: target).contains { $0.text.contains("@Test") }, "\(target) tests nothing")
    }
}
