import Testing

/// Fields that files besides a class's own may change. Each is listed with its reason: a reader of one file cannot see who writes it.
@Suite("Shared fields")
struct SharedFieldsTests {
    /// The rooms whose classes are looked at.
    static let rooms = ["HTTP1", "HTTPEngine", "Reactor", "TLS", "WebSocket"]

    /// By class, the variables that other files of its room set or change, by reason.
    static let allowed: [String: [(reason: String, fields: [String])]] = [
        "Engine": [
            ("the program sets it", ["observer"]),
            (
                "tables of what lives on the engine; each file adds and removes its own kind",
                [
                    "connections", "dials", "hosts", "lastHost", "probes",
                ]
            ),
            (
                "a scratch or shelf that every connection of the loop uses in turn",
                ["head", "readings", "spareDecoders"]
            ),
            (
                "queues of hosts and dials that wait for room, fed wherever a connection ends",
                [
                    "descriptorLine", "descriptorTimer", "starved",
                ]
            ),
            (
                "between an outcome and the next request, EngineEndings and EngineConnections pass it on",
                ["untold", "warm"]
            ),
            (
                "counts and memories, noted where it happens",
                [
                    "closingServers", "connectionsOpened", "localAddresses", "strayConnections",
                ]
            ),
        ],
        "Connection": [("the transport: sending, receiving and gathering move bytes through it", ["link"])],
        "ConnectionSetup": [
            ("the step under way: the steps that a proxy answers stand in a file of their own", ["step"])
        ],
        "Exchange": [
            (
                "the request and its delegate; a farewell moves the delegate and the report out",
                [
                    "delegate", "report", "request",
                ]
            ),
            (
                "states of the exchange, which its engine and its connection change",
                [
                    "decoder", "expectationFailed", "expected", "isPaused", "isSendingHeld", "lastActivity", "phase",
                    "proxyAttempt", "receiving", "sending", "throttle",
                ]
            ),
        ],
        "TLSSession": [
            ("the machine's state: reading and writing are two files", ["state"]),
            (
                "what OpenSSL's callbacks find out, each in the file of its question",
                [
                    "anchors", "delayed", "identity", "offer", "offered", "pathToStaple", "question", "rulesCount",
                    "strangeProtocol", "trust",
                ]
            ),
        ],
    ]

    /// By class, its variables that can be set from another file, for classes that have one.
    private static func shared(in room: String) -> [String: Set<String>] {
        let files = SourceTree.sources.filter { $0.room == room }
        var owners: [String: SourceTree.File] = [:]
        for file in files {
            for match in file.code.matches(of: /(?m)^(?:@\w+ )?(?:public |package )?(?:final |open )?class (\w+)/) {
                owners[String(match.1)] = file
            }
        }
        var found: [String: Set<String>] = [:]
        for (name, owner) in owners {
            let isSplit = files.contains { file in
                file.path != owner.path
                    && file.code.matches(of: /(?m)^(?:public )?extension (\w+)/).contains { $0.1 == name }
            }
            if isSplit { found[name] = variables(of: name, in: owner.code) }
        }
        return found
    }

    static func variables(of name: String, in code: String) -> Set<String> {
        var found: Set<String> = []
        var depth = 0
        var isInside = false
        for line in code.split(separator: "\n") {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            if depth == 0, words.contains("class"), words.contains(Substring(name)) { isInside = true }
            if depth == 1, isInside, let match = line.firstMatch(of: /^\s*((?:[\w@()]+ )*)var (\w+)(.*)/) {
                let modifiers = match.1
                let isHidden = modifiers.contains("private") || modifiers.contains("static")
                // A body without a value in front of it computes.
                let isComputed = match.3.contains("{") && !match.3.prefix { $0 != "{" }.contains("=")
                if !isHidden, !isComputed { found.insert(String(match.2)) }
            }
            for character in line {
                if character == "{" { depth += 1 } else if character == "}" { depth -= 1 }
            }
            if depth == 0 { isInside = false }
        }
        return found
    }

    @Test("a variable that several files of a class can set is listed with its reason, and the list is not longer")
    func listed() {
        var shared: [String: Set<String>] = [:]
        for room in Self.rooms { shared.merge(Self.shared(in: room)) { $0.union($1) } }
        let found = shared.filter { !$0.value.isEmpty }
        let listed = Self.allowed.mapValues { Set($0.flatMap(\.fields)) }
        for (name, fields) in found { #expect(listed[name, default: []] == fields, "\(name)") }
        #expect(Set(listed.keys) == Set(found.keys))
    }

    @Test("private, static and computed variables, and those of types inside, do not count")
    func reading() {
        let code = """
            final class A {
                var b = 1
                private var c = 2
                private(set) var d = 3
                static var e = 4
                var f: Int { 5 }
                var g = 6 { didSet {} }
                let h = 7
                struct I {
                    var j = 8
                }
                weak var k: A?
            }
            class L {
                var m = 9
            }
            """
        #expect(Self.variables(of: "A", in: code) == ["b", "g", "k"])
    }
}
