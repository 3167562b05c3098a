import TestSupport
import Testing

/// Fields that files besides a class's own may change. Each is listed with its reason: a reader of one file cannot see who writes it.
@Suite("Shared fields", .ownThread)
struct SharedFieldsTests {
    /// The rooms whose classes are looked at.
    static let rooms = [
        "UncurlHTTP1", "UncurlEngine", "UncurlLoad", "UncurlLoadReports", "UncurlLocust", "UncurlReactor", "UncurlTLS",
        "UncurlTestServer",
        "UncurlClient", "URLLoading", "UncurlWebSocket",
    ]

    /// By class, the variables that other files of its room set or change, by reason.
    static let allowed: [String: [(reason: String, fields: [String])]] = [
        "Engine": [
            ("a scratch that the parser of every connection uses in turn: it is swapped out and in", ["head"]),
            ("offered with an outcome, and taken by the request that the delegate starts from there", ["warm"]),
            (
                "values that keep their own rules",
                ["closingServers", "connections", "hosts", "readings"]
            ),
            (
                "who is dialled, who waits for a descriptor or for the program: files of the engine's own keep each",
                ["descriptorLine", "descriptorTimer", "dials", "lendingTimer", "lent", "probes", "resting"]
            ),
        ],
        "Connection": [
            ("the transport: sending, receiving and gathering move bytes through it", ["link"]),
            ("the engine gives it up after its exchange", ["isRetired"]),
        ],
        "Dial": [
            (
                "the engine's notes: how often a proxy has asked, and for how many exchanges the connection is",
                ["hasLent", "isRetired", "proxyRounds"]
            )
        ],
        "Exchange": [
            ("counts and instants, noted where it happens", ["report"]),
            ("the request's way out, which ConnectionSending alone moves along", ["sending"]),
        ],
        "VirtualUserDriver": [
            ("values that keep their own rules", ["random", "resting"]),
            ("whose request is being filled in: its user, its number and its variables", ["context"]),
            ("which WebSockets are open: their side of the driver stands in a file of its own", ["sockets"]),
        ],
        "TaskLoader": [
            ("values that keep their own rules", ["delivery"]),
            ("the answer, which a WebSocket's loader shows before the switch", ["response"]),
            ("the part of an earlier download: how it goes on stands in a file of its own", ["resumed", "resumption"]),
        ],
        "URLSessionTask": [
            ("how far its load has come, which the session's home and engine move along", ["stage"]),
            ("set by its session before anything else has the task", ["isTakenIn"]),
        ],
    ]

    /// The reason of fields whose type no other file can change but by its methods.
    static let ruled = "values that keep their own rules"

    /// Classes that others drive, whose every variable counts.
    static let driven: Set<String> = ["Exchange"]

    /// By class, its variables that can be set from another file, for classes that have one.
    private static func shared(in room: String) -> [String: Set<String>] {
        let files = SourceTree.sources.filter { $0.room == room }
        var owners: [String: SourceTree.File] = [:]
        // By type, the files with an extension of it.
        var extending: [String: Set<String>] = [:]
        for file in files {
            for match in file.code.matches(of: /(?m)^(?:public )?extension (\w+)/) {
                extending[String(match.1), default: []].insert(file.path)
            }
            for match in file.code.matches(of: /(?m)^(?:@\w+ )?(?:public |package )?(?:final |open )?class (\w+)/) {
                owners[String(match.1)] = file
            }
        }
        var found: [String: Set<String>] = [:]
        for (name, owner) in owners {
            let isSplit = !(extending[name] ?? []).subtracting([owner.path]).isEmpty
            if isSplit || driven.contains(name) { found[name] = variables(of: name, in: owner.code) }
        }
        return found
    }

    static func variables(of name: String, in code: String) -> Set<String> {
        var found: Set<String> = []
        var depth = 0
        var isInside = false
        for line in code.split(separator: "\n") {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            if depth == 0, words.contains("class") || words.contains("struct"), words.contains(Substring(name)) {
                isInside = true
            }
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

    @Test("a value that is said to keep its own rules has no variable that another file can set")
    func ruled() throws {
        for (name, entries) in Self.allowed {
            for field in entries.filter({ $0.reason == Self.ruled }).flatMap(\.fields) {
                let type = try #require(try Self.type(of: field, in: name), "\(name).\(field)")
                let value = try Regex("(?m)^(?:public |package )?struct \(type)\\b")
                let file = try #require(SourceTree.sources.first { $0.code.contains(value) }, "\(type)")
                #expect(Self.variables(of: type, in: file.code) == [], "\(type)")
            }
        }
    }

    /// The type that a class's variable names, or is made with.
    private static func type(of field: String, in name: String) throws -> String? {
        let variable = try Regex<(Substring, Substring)>("    (?:final )?var \(field)(?:: | = )([A-Z]\\w+)")
        let owner = SourceTree.sources.first { $0.path.hasSuffix("/\(name).swift") }
        return (owner?.code.firstMatch(of: variable)?.1).map(String.init)
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
