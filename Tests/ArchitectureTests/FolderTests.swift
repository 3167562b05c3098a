import TestSupport
import Testing

/// The folders within rooms: each answers one question, and arrows between them have one direction.
@Suite("Folders", .ownThread)
struct FolderTests {
    /// By room and folder, the folders whose types its files may name. A file at the top of its room is in the folder
    /// "".
    static let allowed: [String: [String: Set<String>]] = [
        "Uncurl": [
            "": [],
            // What messages are made of, and what an error of any kind says of itself.
            "Fields": [],
            "Content": ["Fields"],
            // What may go wrong.
            "Security": ["Fields"],
            "Answers": ["Content", "Fields", "Security"],
            // What a program says of a request and of its answer.
            "RequestSerializers": ["Answers", "Content", "Fields"],
            "ResponseSerializers": ["Answers", "Content", "Fields"],
            "Streams": ["Answers", "Fields"],
            "Reachability": [],
            "Interceptors": ["Answers", "Fields", "Reachability"],
            "Requests": ["Answers", "Content", "Fields", "Interceptors", "RequestSerializers"],
            // What happens to a request under way.
            "Events": ["Answers", "Fields", "Interceptors", "Requests"],
            // How a request comes to its answer.
            "Tasks": [
                "Answers", "Content", "Events", "Fields", "Interceptors", "Reachability", "RequestSerializers",
                "Requests", "ResponseSerializers", "Security",
            ],
            "Managers": [
                "Answers", "Content", "Events", "Fields", "Interceptors", "Reachability", "RequestSerializers",
                "Requests", "ResponseSerializers", "Security", "Streams", "Tasks",
            ],
            "Operations": [
                "Answers", "Content", "Events", "Fields", "Interceptors", "Managers", "Requests",
                "ResponseSerializers", "Tasks",
            ],
        ],
        "UncurlClient": [
            // What is sent, and what comes back.
            "Requests": [],
            // What is kept of answers.
            "Stores": ["Requests"],
            // What loads share.
            "Scope": ["Requests", "Stores"],
            // How a request comes to its answer.
            "Loads": ["Requests", "Scope", "Stores"],
        ],
        "URLLoading": [
            "": [],
            // What all the others use.
            "Messages": [],
            "Errors": ["Messages"],
            "Observation": ["Errors", "Messages"],
            "Channels": ["Errors", "Messages"],
            // What a program sees, how it is told and asked, and what is kept for it.
            "Session": ["Channels", "Errors", "Messages", "Observation", "Stores"],
            "Stores": ["Errors", "Messages", "Session"],
            // What a session is for its loads.
            "Settings": ["Messages", "Observation", "Requests", "Session", "Stores"],
            "Background": ["Channels", "Errors", "Messages", "Session", "Stores"],
            "Requests": ["Errors", "Messages", "Session"],
            "Engine": ["Background", "Channels", "Messages", "Session", "Settings", "Stores"],
            // Where answers come from, besides the network.
            "LocalLoading": ["Engine", "Errors", "Messages", "Requests", "Session", "Settings", "Stores"],
            "Streams": ["Channels", "Engine", "Errors", "Messages", "Requests", "Session", "Settings"],
            // How a task comes to its answer.
            "Tasks": [
                "Background", "Channels", "Engine", "Errors", "LocalLoading", "Messages", "Observation", "Requests",
                "Session", "Settings", "Stores", "Streams",
            ],
        ],
        // Each folder is a part of HTTP's semantics.
        "UncurlSemantics": [
            "URLs": [],
            // What becomes of an answer: one machine over all the others' rules.
            "Answers": ["Authentication", "Caching", "Redirects", "Resumption", "Retries", "URLs"],
            "Authentication": ["URLs"],
            "Caching": ["Redirects", "URLs"],
            "Cookies": ["URLs"],
            "Forms": [],
            "Redirects": ["URLs"],
            "Resumption": [],
            "Uploads": ["Redirects", "Retries", "URLs"],
            "Retries": [],
        ],
        "UncurlExtras": [
            "": [],
            "Caching": [],
            "Images": ["Caching"],
            "Downloading": ["Caching", "Images"],
            "Activity": [],
            "Terminal": [],
        ],
        "UncurlHTTP1": [
            "Errors": [],
            "Grammar": ["Errors"],
            // What is in a message, and where it ends.
            "Fields": ["Errors", "Grammar"],
            "Messages": ["Errors", "Fields", "Grammar"],
            // How it is read, and how it is written.
            "Parsers": ["Errors", "Fields", "Grammar", "Messages"],
            "Writing": ["Errors", "Fields", "Grammar", "Messages"],
        ],
        "UncurlEngine": [
            // What is asked for, and by which way.
            "Decoding": [],
            "Rates": [],
            "Errors": ["Decoding"],
            "Bodies": ["Errors"],
            "Proxies": ["Errors"],
            "Requests": ["Bodies", "Decoding", "Errors", "Proxies", "Rates"],
            // How a connection is found, opened and held.
            "Pool": ["Requests"],
            "Settings": ["Pool", "Proxies", "Requests"],
            "Transport": [],
            "Security": ["Proxies", "Requests", "Settings", "Transport"],
            "Reports": ["Errors", "Pool", "Proxies"],
            "Upgrades": ["Errors", "Reports", "Transport"],
            "Connections": ["Requests", "Settings"],
            // What becomes of a request.
            "Exchanges": ["Bodies", "Decoding", "Errors", "Pool", "Rates", "Reports", "Requests", "Upgrades"],
            "Engine": [
                "Bodies", "Connections", "Decoding", "Errors", "Exchanges", "Pool", "Proxies", "Rates", "Reports",
                "Requests", "Security", "Settings", "Transport", "Upgrades",
            ],
            "WebSocket": ["Errors", "Requests", "Upgrades"],
        ],
        "UncurlReactor": [
            // What the operating system offers, and what time it is.
            "Time": [],
            "System": ["Time"],
            "Files": ["System"],
            // The thread, and how work comes to it.
            "Loop": ["System", "Time"],
            // How two ends find each other.
            "Sockets": ["Files", "Loop", "System", "Time"],
            "Names": ["Files", "Loop", "Sockets", "System", "Time"],
            "Connecting": ["Loop", "Names", "Sockets", "System", "Time"],
            // What the machine is attached to.
            "Network": ["Loop", "Names", "Sockets", "System"],
        ],
        "UncurlTLS": [
            // OpenSSL's C.
            "OpenSSL": [],
            "Certificates": ["OpenSSL"],
            "Errors": ["Certificates", "OpenSSL"],
            // Whether the peer is the one that was meant.
            "Trust": ["Certificates", "Errors"],
            "Verification": ["Certificates", "Errors", "Trust"],
            // Which certificate this side shows.
            "Identity": ["Certificates", "Errors", "OpenSSL", "Verification"],
            "Settings": ["Certificates", "Errors", "Identity", "Trust", "Verification"],
            "Session": ["Certificates", "Errors", "Identity", "OpenSSL", "Settings", "Trust", "Verification"],
        ],
        "UncurlWebSocket": [
            // What may go wrong.
            "": [],
            // Do both ends agree?
            "Handshake": [""],
            // What is the next frame?
            "Frames": [""],
            // When is a message whole, and is it text?
            "Messages": ["", "Frames"],
            // What may be said now, and how does it end?
            "Conversation": ["", "Frames", "Handshake", "Messages"],
        ],
        "UncurlLoad": [
            // A program's front.
            "": ["Histograms", "Plan", "Requests", "Running", "Schedule", "Text", "Users"],
            // How numbers, errors and settings are told, and what the system says.
            "Text": [],
            "System": ["Text"],
            // What is counted.
            "Histograms": ["Text"],
            "Metrics": ["Histograms", "System"],
            "Thresholds": ["Histograms", "Metrics", "Text"],
            // What is sent, when, and by whom.
            "Schedule": ["Text"],
            "Requests": ["Schedule", "System", "Text"],
            "Users": ["Metrics", "Requests", "Text"],
            "Scenarios": ["Requests", "Schedule", "Text", "Users"],
            "Plan": ["Metrics", "Requests", "Scenarios", "Schedule", "System", "Text", "Thresholds", "Users"],
            // The run.
            "Workers": ["Metrics", "Plan", "Requests", "Scenarios", "Schedule", "System", "Text", "Users"],
            "Running": ["Histograms", "Metrics", "Plan", "System", "Text", "Thresholds", "Workers"],
        ],
        "UncurlLoadReports": [
            "Documents": [],
            // For people and for pipelines.
            "Text": ["Documents"],
            // A line for each interval, request or percentile.
            "Lines": ["Documents"],
            "HTML": ["Documents", "Lines"],
            // What others read while the run goes on.
            "Live": [],
            // Several reports.
            "Merging": ["Documents", "Lines", "Text"],
            "Comparing": ["Documents"],
        ],
        "UncurlLocust": [
            // What the network carries: ZeroMQ's frames, and MessagePack in them.
            "Wire": [],
            "Conversation": ["Wire"],
            "Working": ["Conversation", "Wire"],
        ],
        "volley": [
            // How a text becomes a value, or a complaint.
            "Values": [],
            "Inputs": ["Values"],
            "Scenarios": ["Values"],
            "Output": ["Values"],
            "Flags": ["Inputs", "Output", "Scenarios", "Values"],
            "Runs": ["Flags", "Output", "Values"],
            // A run of several machines.
            "Parts": ["Flags", "Output", "Runs", "Values"],
            "Commands": ["Flags", "Output", "Parts", "Runs", "Scenarios", "Values"],
        ],
        "UncurlTestServer": [
            "": ["Server"],
            "Text": [],
            "Certificates": ["Text"],
            "Routes": ["Text"],
            "Server": ["Routes", "Text"],
        ],
    ]

    /// The arrows that lead back to where they began, by room, each with what forces it.
    private static let back: [String: [(from: String, to: String, reason: String)]] = [
        "URLLoading": [
            (
                "Stores", "Session",
                "Apple's open `URLCache.storeCachedResponse(_:for:)`, `HTTPCookieStorage.storeCookies(_:for:)`, "
                    + "`URLCredentialStorage.set(_:for:task:)` and their like take tasks"
            )
        ]
    ]

    /// The most files of a room that may all refer to each other, by types, and by types and members.
    private static let largestCircle = [
        "UncurlHTTP1": (2, 2), "UncurlEngine": (4, 7), "UncurlClient": (4, 4), "UncurlSemantics": (3, 3),
        "UncurlLoad": (4, 4), "UncurlLoadReports": (1, 2), "UncurlLocust": (1, 1), "UncurlReactor": (2, 2),
        "UncurlTestServer": (3, 3), "UncurlTLS": (5, 5), "URLLoading": (17, 19), "Uncurl": (5, 5),
        "UncurlExtras": (2, 2), "UncurlTestKit": (1, 1), "UncurlXML": (2, 2), "volley": (3, 3),
        "UncurlWebSocket": (1, 1),
    ]

    /// URLLoading's largest circle: Apple's classes, whose open methods take and give each other.
    private static let appleCircle: Set<String> = [
        "CachedURLResponse", "HTTPCookieStorage", "URLAuthenticationChallenge", "URLCache", "URLCredentialStorage",
        "URLSession",
        "URLSessionConfiguration", "URLSessionStreamTask", "URLSessionTask", "URLSessionTaskDelegate",
        "URLSessionWebSocketTask",
    ]
    /// The files of ours in that circle, each with what forces it.
    private static let besideApple = [
        "CacheFile": "makes the `CachedURLResponse` that a file holds; that names `URLCache`, for its storage policy",
        "DiskCache": "keeps `CachedURLResponse`s for `URLCache`",
        "MemoryCache": "keeps `CachedURLResponse`s for `URLCache`",
        "SessionHome": "what a session and a task know of their loader: its methods take both",
        "TaskEvent": "an event as a value: it is told of a task, to the methods of its or its session's delegate",
        "TaskSpec": "what a task asks for; its result names the task, which a data task may have become",
    ]

    private static func folder(_ path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }

    @Test("a room's folders are those of its table", arguments: allowed.keys.sorted())
    func folders(room: String) throws {
        let table = try #require(Self.allowed[room])
        let there = Set(SourceTree.sources.filter { $0.room == room }.map { Self.folder($0.path) })
        #expect(there == Set(table.keys))
    }

    /// The members that one declaration of all rooms has.
    private static let members = TopLevelNames.membersDeclaredOnce(in: SourceTree.sources)

    @Test(
        "a file names the types and members of those folders alone that its own may name",
        arguments: allowed.keys.sorted()
    )
    func arrows(room: String) throws {
        let table = try #require(Self.allowed[room])
        let names = TopLevelNames(of: SourceTree.sources.filter { $0.room == room }, members: Self.members)
        for (file, uses) in names.uses.merging(names.memberUses, uniquingKeysWith: { $0.union($1) }) {
            let own = Self.folder(file)
            // What stands at the top of a room belongs to no folder.
            for other in uses where Self.folder(other) != own && !Self.folder(other).isEmpty {
                #expect(table[own]?.contains(Self.folder(other)) ?? false, "\(file) uses \(other)")
            }
        }
    }

    @Test(
        "no arrows between a room's folders lead back to where they began, but for those with a reason",
        arguments: allowed.keys.sorted()
    )
    func noCircles(room: String) throws {
        var left = try #require(Self.allowed[room])
        let back = Self.back[room] ?? []
        for arrow in back { #expect(left[arrow.from]?.remove(arrow.to) != nil, "\(arrow)") }
        #expect(Set(back.flatMap { [$0.from, $0.to] }).count <= 4)
        while let free = left.first(where: { $0.value.isDisjoint(with: left.keys) }) { left[free.key] = nil }
        #expect(left.isEmpty, "\(left.keys.sorted()) are in circles, or behind them")
    }

    @Test("no circle of files in a room is larger than the room's limit", arguments: largestCircle.keys.sorted())
    func circles(room: String) {
        let names = TopLevelNames(of: SourceTree.sources.filter { $0.room == room }, members: Self.members)
        let (types, all) = Self.largestCircle[room] ?? (1, 1)
        for (circle, limit) in [(names.circles.first ?? [], types), (names.circlesWithMembers.first ?? [], all)] {
            #expect(circle.count <= max(limit, 1), "\(circle)")
        }
    }

    @Test("URLLoading's largest circle is Apple's classes, and what of ours is listed with a reason")
    func appleCircle() throws {
        let circles = TopLevelNames(of: SourceTree.sources.filter { $0.room == "URLLoading" }).circles
        let names = try #require(circles.first).compactMap { $0.split(separator: "/").last?.dropLast(6) }
        #expect(Set(names.map(String.init)) == Self.appleCircle.union(Self.besideApple.keys))
    }

    @Test("a circle of files is found, and files beside it are not part of it")
    func reading() {
        let texts = [
            "a": "struct A { let b: B }", "b": "enum B { func c() -> C }", "c": "class C: A {}", "d": "let d = A()",
        ]
        let files = texts.map { SourceTree.File(path: $0, text: $1, code: $1) }
        #expect(TopLevelNames(of: files).circles == [["a", "b", "c"]])
    }

    @Test("a member that one file alone declares is an arrow from each file that uses it, and no other member is")
    func readingMembers() {
        let texts = [
            "a": """
            extension A {
                var isRemarkable: Bool { true }
                func description() {}
                func twiceDeclared() {}
            }
            """,
            "b": """
            struct B {
                func twiceDeclared() {}
                let b = a.isRemarkable
            }
            """,
            "c": "let c = b.twiceDeclared() + a.description()",
        ]
        let files = texts.map { SourceTree.File(path: $0, text: $1, code: $1) }
        let names = TopLevelNames(of: files, members: TopLevelNames.membersDeclaredOnce(in: files))
        #expect(names.memberUses == ["a": [], "b": ["a"], "c": []])
    }
}
