import TestSupport
import Testing

/// Which rooms there are, and which way the arrows point.
@Suite("Rooms", .ownThread)
struct RoomTests {
    /// What a room's files may import. An arrow is an import; none goes up or sideways.
    private static let allowed: [String: Set<String>] = [
        // The only place that says which C library there is.
        "UncurlLibC": ["Glibc", "Musl"],
        // Bytes and messages: knows neither sockets nor clocks, and needs not even the C library.
        "UncurlHTTP1": [],
        // Text and bytes, once for all rooms. Of the C library only the texts of addresses.
        "UncurlText": ["CUncurlLinux"],
        "UncurlReactor": ["UncurlText", "CUncurlLinux", "Synchronization"],
        // Sans-IO: ciphertext in, ciphertext out; files only where a program names one.
        "UncurlTLS": ["UncurlText", "CUncurlOpenSSL", "UncurlLibC", "Synchronization"],
        // Sans-IO as well, for both ends: octets and messages.
        "UncurlWebSocket": ["UncurlHTTP1", "UncurlText", "CUncurlZlib"],
        // What messages mean: policy, without sockets or a clock. Of TLS only the hash functions, which are OpenSSL's.
        "UncurlSemantics": ["UncurlText", "UncurlHTTP1", "UncurlTLS", "CUncurlPublicSuffixes"],
        "UncurlEngine": [
            "UncurlText", "UncurlSemantics", "UncurlReactor", "UncurlHTTP1", "UncurlTLS", "UncurlWebSocket",
            "CUncurlZlib", "CUncurlLinux", "Synchronization",
            // Behind package traits.
            "CUncurlBrotli", "CUncurlZstd",
        ],
        // One load, with its events and questions; its stores are protocols.
        "UncurlClient": [
            "UncurlText", "UncurlSemantics", "UncurlReactor", "UncurlHTTP1", "UncurlTLS", "UncurlWebSocket",
            "UncurlEngine", "Synchronization", "UncurlLibC",
        ],
        // Foundation's loading classes: the lowest room that speaks Foundation.
        "URLLoading": [
            "Foundation", "FoundationEssentials", "Dispatch", "UncurlClient", "UncurlEngine", "UncurlSemantics",
            "UncurlHTTP1",
            "UncurlReactor", "UncurlTLS",
            "UncurlWebSocket", "UncurlText", "CUncurlZlib", "UncurlLibC", "Synchronization",
            // By package traits, off unless asked for.
            "HTTPTypes", "Logging", "Metrics", "Tracing", "Instrumentation",
        ],
        // The module FoundationNetworking of an installation.
        "DropIn": ["URLLoading", "Foundation"],
        // What people type. Below it lies Foundation's vocabulary, and of the engine what a policy decides on.
        "Uncurl": [
            "URLLoading", "Foundation", "FoundationEssentials", "Dispatch", "UncurlClient", "UncurlEngine",
            "UncurlSemantics", "UncurlHTTP1",
            "UncurlWebSocket", "UncurlReactor", "UncurlTLS", "UncurlText", "UncurlLibC", "Synchronization",
            // By package traits, off unless asked for.
            "Logging", "Metrics", "Tracing", "Instrumentation",
        ],
        // What applications show: images, progress, activity.
        "UncurlExtras": [
            "Uncurl", "UncurlReactor", "UncurlText", "Foundation", "Dispatch", "CUncurlZlib", "UncurlLibC",
            "Synchronization",
        ],
        // libxml2 comes with FoundationXML: a room of its own, for programs that import it.
        "UncurlXML": ["Uncurl", "Foundation", "FoundationXML", "Synchronization"],
        "UncurlTestKit": ["Uncurl", "UncurlText", "Foundation", "Dispatch", "UncurlLibC", "Synchronization"],
        // Never the engine: a client must not be tested against itself.
        "UncurlTestServer": [
            "UncurlText", "UncurlTLS", "UncurlReactor", "UncurlHTTP1", "UncurlWebSocket", "CUncurlOpenSSL",
            "CUncurlLinux", "UncurlLibC", "Synchronization",
        ],
        "httpbin": [
            "UncurlTestServer", "UncurlTLS", "UncurlReactor", "UncurlHTTP1", "CUncurlLinux", "UncurlLibC",
            "ArgumentParser",
        ],
        // The smallest program on the engine: no package, so that its `ldd` shows what the engine brings.
        "fetch": ["UncurlEngine", "UncurlSemantics", "UncurlHTTP1", "UncurlReactor", "UncurlTLS", "UncurlLibC"],
        // The load tester without its command line.
        "UncurlLoad": [
            "UncurlText", "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlHTTP1", "UncurlReactor",
            "UncurlTLS", "UncurlTestServer", "CUncurlLinux",
            "CUncurlZlib", "UncurlLibC",
            "Synchronization",
            "Histogram",
        ],
        // What is written of a run, and read again.
        "UncurlLoadReports": [
            "UncurlText", "UncurlLoad", "UncurlEngine", "UncurlSemantics", "UncurlHTTP1", "UncurlReactor", "UncurlTLS",
            "CUncurlLinux", "UncurlLibC", "Synchronization",
        ],
        // A Locust master's words, and a run that follows them.
        "UncurlLocust": [
            "UncurlLoad", "UncurlEngine", "UncurlSemantics", "UncurlReactor", "UncurlTLS", "CUncurlLinux", "UncurlLibC",
        ],
        "volley": [
            "UncurlText", "UncurlLoad", "UncurlLoadReports", "UncurlLocust", "UncurlEngine", "UncurlSemantics",
            "UncurlHTTP1",
            "UncurlReactor",
            "UncurlTLS",
            "UncurlTestServer",
            "CUncurlLinux",
            "UncurlLibC", "ArgumentParser",
        ],
        // Programs that show how a library is used; each imports what it shows.
        "Examples": [
            "UncurlLoad", "UncurlLoadReports", "Uncurl", "UncurlExtras", "UncurlTestServer", "UncurlTLS",
            "Synchronization",
        ],
    ]

    /// Rooms of C declarations alone.
    private static let systemRooms: Set<String> = [
        "CUncurlBrotli", "CUncurlLinux", "CUncurlPublicSuffixes", "CUncurlZlib", "CUncurlZstd", "CUncurlOpenSSL",
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

    @Test(
        "the portable rooms import neither a C library nor Foundation",
        arguments: ["UncurlHTTP1", "UncurlSemantics", "UncurlText", "UncurlWebSocket"]
    )
    func portable(room: String) throws {
        let bound: Set = ["UncurlLibC", "Glibc", "Musl", "Dispatch", "Foundation", "FoundationEssentials"]
        let files = Self.files.filter { $0.room == room }
        #expect(!files.isEmpty)
        for file in files { #expect(bound.isDisjoint(with: SwiftText.imports(file.code)), "\(file)") }
    }

    @Test("no room below URLLoading links Foundation, whatever its table says")
    func noFoundation() {
        let above: Set = ["URLLoading", "DropIn", "Uncurl", "UncurlExtras", "UncurlXML", "UncurlTestKit"]
        for (room, modules) in Self.allowed where !above.contains(room) {
            #expect(!modules.contains { $0.hasPrefix("Foundation") }, "\(room)")
        }
    }

    @Test("no type bears a module's name: UncurlReactor.UncurlReactor would make the module unspeakable")
    func typeNames() {
        let modules = Set(SourceTree.folders(in: "Sources"))
        for file in Self.files {
            let words = file.words
            for (keyword, name) in zip(words, words.dropFirst())
            where ["struct", "class", "enum", "actor", "protocol", "typealias"].contains(keyword) {
                #expect(!modules.contains(String(name)), "\(file) declares \(name)")
            }
        }
    }

    @Test("no type at the top of a file has the name of another room's: who reads both need not tell them apart")
    func typesOfTwoRooms() {
        var rooms: [Substring: Set<String>] = [:]
        // `DropIn` gives URLLoading's types a second module, and each example is a program of its own.
        for file in Self.files where !["DropIn", "Examples"].contains(file.room) {
            for name in TopLevelNames.declared(in: file.code) { rooms[name, default: []].insert(file.room) }
        }
        for (name, rooms) in rooms where rooms.count > 1 { Issue.record("\(name): \(rooms.sorted())") }
    }

    @Test("no file of volley names the type of its entry, which the Fuzz package leaves out")
    func entryOfVolley() {
        let files = Self.files.filter { $0.room == "volley" && $0.text.contains("Program.") }
        #expect(files.map(\.path) == [])
    }

    @Test(
        "every room is tested by a target of its own",
        arguments: [
            "UncurlText", "UncurlHTTP1", "UncurlReactor", "UncurlTLS", "UncurlWebSocket", "UncurlSemantics",
            "UncurlEngine", "URLLoading", "Uncurl",
            "UncurlExtras", "UncurlXML", "UncurlTestKit", "UncurlTestServer", "UncurlLoad", "UncurlLoadReports",
            "UncurlLocust",
            "volley", "fetch",
        ]
    )
    func roomsAreTested(room: String) {
        let target = "Tests/\(room.prefix(1).uppercased())\(room.dropFirst())Tests"
        #expect(SourceTree.swiftFiles(in: target).contains { $0.text.contains("@Test") }, "\(target) tests nothing")
    }
}
