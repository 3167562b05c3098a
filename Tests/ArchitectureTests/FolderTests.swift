import Testing

/// The folders within rooms: each answers one question, and arrows between them have one direction.
@Suite("Folders")
struct FolderTests {
    /// By room and folder, the folders whose types its files may name. A file at the top of its room is in the folder
    /// "".
    static let allowed: [String: [String: Set<String>]] = [
        "Uncurl": [
            "": [],
            // What messages are made of.
            "Fields": [],
            "Parameters": [],
            "JSON": ["Fields", "Parameters"],
            "Multipart": [],
            "Compression": [],
            "Answers": ["Fields", "JSON"],
            // What may go wrong.
            "Security": [],
            "Errors": ["Answers", "Compression", "Multipart", "Parameters", "Security"],
            // What a program says of a request and of its answer.
            "RequestSerializers": ["Compression", "Errors", "Fields", "JSON", "Multipart", "Parameters"],
            "ResponseSerializers": ["Answers", "Errors", "Fields", "JSON", "Parameters"],
            "Interceptors": ["Errors", "Fields"],
            "Requests": [
                "Answers", "Compression", "Fields", "Interceptors", "Multipart", "Parameters", "RequestSerializers",
            ],
            "Monitors": ["Errors", "Requests"],
            "Adapters": ["Errors", "Interceptors", "Monitors"],
            "Streams": ["Errors"],
            "Reachability": [],
            // How a request comes to its answer.
            "Settings": [
                "Errors", "Interceptors", "Monitors", "RequestSerializers", "Requests", "ResponseSerializers",
                "Security",
            ],
            "Downloads": ["Answers", "Errors", "Settings"],
            "Responses": ["Answers", "Downloads", "Errors", "Multipart", "ResponseSerializers"],
            "Tasks": ["Downloads", "Errors", "Requests", "Settings"],
            "Managers": [
                "Downloads", "Errors", "Fields", "Interceptors", "Monitors", "RequestSerializers", "Requests",
                "ResponseSerializers", "Responses", "Security", "Settings", "Tasks",
            ],
            "Transfers": [
                "Answers", "Downloads", "Errors", "Fields", "Interceptors", "Managers", "Monitors", "Multipart",
                "Parameters", "Requests", "ResponseSerializers", "Responses", "Settings", "Streams", "Tasks",
            ],
            "Operations": [
                "Answers", "Errors", "Managers", "Requests", "ResponseSerializers", "Responses", "Settings", "Tasks",
            ],
        ],
        // Each folder is a part of HTTP's semantics.
        "HTTPSemantics": [
            "URLs": [],
            // What becomes of an answer: one machine over all the others' rules.
            "Answers": ["Authentication", "Caching", "Redirects", "Resumption", "Retries", "URLs"],
            "Authentication": ["URLs"],
            "Caching": ["Redirects", "URLs"],
            "Cookies": ["URLs"],
            "Redirects": ["URLs"],
            "Resumption": [],
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
        "HTTP1": [
            "Errors": [],
            "Grammar": ["Errors"],
            // What is in a message, and where it ends.
            "Fields": ["Errors", "Grammar"],
            "Messages": ["Errors", "Fields", "Grammar"],
            // How it is read, and how it is written.
            "Parsers": ["Errors", "Fields", "Grammar", "Messages"],
            "Writing": ["Errors", "Fields", "Grammar", "Messages"],
        ],
        "HTTPEngine": [
            // What is asked for, and by which way.
            "": [],
            "Decoding": [],
            "Rates": [],
            "Errors": ["", "Decoding"],
            "Bodies": ["Errors"],
            "Origins": ["", "Errors"],
            "Proxies": ["", "Errors", "Origins"],
            "Routing": ["Origins", "Proxies"],
            "Requests": ["Bodies", "Decoding", "Errors", "Origins", "Proxies", "Rates", "Routing"],
            // How a connection is found, opened and held.
            "Pool": ["Routing"],
            "Settings": ["Origins", "Pool", "Proxies", "Requests"],
            "Transport": [],
            "Security": ["Origins", "Proxies", "Routing", "Settings", "Transport"],
            "Reports": ["Errors", "Origins", "Pool", "Proxies"],
            "Upgrades": ["Errors", "Reports", "Transport"],
            "Connecting": [
                "Errors", "Origins", "Pool", "Proxies", "Reports", "Routing", "Security", "Transport", "Upgrades",
            ],
            "Connections": ["Settings"],
            // What becomes of a request.
            "Exchanges": ["Bodies", "Decoding", "Errors", "Pool", "Rates", "Reports", "Requests", "Upgrades"],
            "Engine": [
                "Bodies", "Connecting", "Connections", "Decoding", "Errors", "Exchanges", "Origins", "Pool", "Proxies",
                "Rates", "Reports", "Requests", "Routing", "Security", "Settings", "Transport", "Upgrades",
            ],
            "WebSocket": ["Errors", "Origins", "Requests", "Upgrades"],
        ],
        "Reactor": [
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
        "TLS": [
            // Bytes, and OpenSSL's C.
            "Encoding": [],
            "Protocol": [],
            "OpenSSL": ["Encoding"],
            "Certificates": ["Encoding", "OpenSSL"],
            "Errors": ["Certificates", "Encoding", "Protocol"],
            // Whether the peer is the one that was meant.
            "Trust": ["Certificates", "Encoding", "Errors"],
            "Verification": ["Certificates", "Encoding", "Errors", "Trust"],
            // Which certificate this side shows.
            "Identity": ["Certificates", "Encoding", "Errors", "OpenSSL", "Verification"],
            "Settings": ["Certificates", "Encoding", "Errors", "Identity", "Protocol", "Trust", "Verification"],
            "Session": [
                "Certificates", "Encoding", "Errors", "Identity", "OpenSSL", "Protocol", "Settings", "Trust",
                "Verification",
            ],
        ],
        "LoadGenerator": [
            // A program's front.
            "": ["Histograms", "Plan", "Requests", "Results", "Running", "Schedule", "Text", "Users"],
            // How numbers, errors and settings are told, and what the system says.
            "Text": [],
            "System": [],
            // What is counted.
            "Histograms": [],
            "Metrics": ["Histograms", "System"],
            "Thresholds": ["Histograms", "Metrics", "Text"],
            // What is sent, when, and by whom.
            "Schedule": ["Text"],
            "Requests": ["Schedule", "System", "Text"],
            "Users": ["Metrics", "Requests"],
            "Plan": ["Metrics", "Requests", "Schedule", "System", "Text", "Thresholds", "Users"],
            // The run.
            "Workers": ["Metrics", "Plan", "Requests", "Schedule", "System", "Text", "Users"],
            "Results": ["Metrics", "Plan", "Text", "Thresholds"],
            "Running": ["Metrics", "Plan", "Results", "System", "Text", "Workers"],
        ],
        "LoadReports": [
            "": ["Documents", "Text"],
            "Documents": [],
            "Text": ["Documents"],
            "Histograms": ["Documents"],
            "HTML": ["Documents", "Histograms"],
            "Lines": ["Documents"],
            "Prometheus": [],
            // Several reports.
            "Merging": ["Documents", "Histograms", "Text"],
            "Comparing": ["Documents"],
        ],
        "LocustWorker": [
            "ZeroMQ": [],
            "MessagePack": [],
            "Conversation": ["MessagePack", "ZeroMQ"],
            "Working": ["Conversation", "ZeroMQ"],
        ],
        "volley": [
            // How a text becomes a value, or a complaint.
            "Values": [],
            "Inputs": ["Values"],
            "Output": ["Values"],
            "Flags": ["Inputs", "Output", "Values"],
            // What the terminal shows while a run goes on.
            "Terminal": [],
            "Runs": ["Flags", "Output", "Terminal", "Values"],
            "Commands": ["Flags", "Output", "Runs", "Values"],
        ],
        "TestServer": [
            "": ["Server"],
            "Text": [],
            "Certificates": ["Text"],
            "Raw": [],
            "Routes": ["Text"],
            "Server": ["Routes", "Text"],
        ],
    ]

    /// The most files of a room that may all refer to each other.
    private static let largestCircle = [
        "HTTP1": 2, "HTTPEngine": 4, "HTTPSemantics": 3, "LoadGenerator": 4, "LoadReports": 3, "LocustWorker": 1,
        "Reactor": 2, "TestServer": 3,
        "TLS": 6, "URLLoading": 59, "Uncurl": 5, "UncurlExtras": 3, "UncurlTestKit": 1, "UncurlXML": 2,
        "volley": 4, "WebSocket": 1,
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

    @Test("a file names the types of those folders alone that its own may name", arguments: allowed.keys.sorted())
    func arrows(room: String) throws {
        let table = try #require(Self.allowed[room])
        for (file, uses) in TopLevelNames(of: SourceTree.sources.filter { $0.room == room }).uses {
            let own = Self.folder(file)
            for other in uses where Self.folder(other) != own {
                #expect(table[own]?.contains(Self.folder(other)) ?? false, "\(file) uses \(other)")
            }
        }
    }

    @Test("no arrows between a room's folders lead back to where they began", arguments: allowed.keys.sorted())
    func noCircles(room: String) throws {
        var left = try #require(Self.allowed[room])
        while let free = left.first(where: { $0.value.isDisjoint(with: left.keys) }) { left[free.key] = nil }
        #expect(left.isEmpty, "\(left.keys.sorted()) are in circles, or behind them")
    }

    @Test("no circle of files in a room is larger than the room's limit", arguments: largestCircle.keys.sorted())
    func circles(room: String) {
        let circles = TopLevelNames(of: SourceTree.sources.filter { $0.room == room }).circles
        #expect(circles.first?.count ?? 1 <= Self.largestCircle[room] ?? 1, "\(circles.first ?? [])")
    }

    @Test("a circle of files is found, and files beside it are not part of it")
    func reading() {
        let texts = [
            "a": "struct A { let b: B }", "b": "enum B { func c() -> C }", "c": "class C: A {}", "d": "let d = A()",
        ]
        let files = texts.map { SourceTree.File(path: $0, text: $1, code: $1) }
        #expect(TopLevelNames(of: files).circles == [["a", "b", "c"]])
    }
}
