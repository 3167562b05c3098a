import TestSupport
import Testing

/// The files that a reader opens to follow one thing through the rooms, from the call to its end: every file that says
/// a part of what happens where nothing special is set and a connection is idle. A step that leads through fewer files
/// shortens its list.
@Suite("Walks")
struct WalkTests {
    struct Walk: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How many files it leads through today. It may not become longer.
        let ceiling: Int
        /// By room, the names of its files, without their endings.
        let files: [String: String]

        init(_ description: String, ceiling: Int, _ files: [String: String]) {
            (testDescription, self.ceiling, self.files) = (description, ceiling, files)
        }

        var paths: [(room: String, name: Substring)] {
            files.flatMap { room, names in names.split { $0.isWhitespace }.map { (room, $0) } }
        }
    }

    /// From a loader to the server and back.
    private static let exchange = [
        "UncurlHTTP1": """
        BodyDecoder BodyFraming FieldLineParser HTTPFields MessageHead MessageReader MessageSerializer
        ResponseParser Scanners
        """,
        "UncurlEngine": """
        Connection ConnectionMachine ConnectionPool ConnectionSending Engine EngineRequest Exchange
        ExchangeReport Link Route
        """,
        "UncurlSemantics": """
        AnswerMachine AuthorizationMemory CacheStorage ChallengeQuestion CookieJar HTTPURL RedirectRule
        """,
        "UncurlReactor": """
        EventLoop Poller Socket SystemCall
        """,
    ]

    static let walks = [
        Walk(
            "URLSession.data(from:), down and up",
            ceiling: 59,
            exchange.merging([
                "URLLoading": """
                CompletionReport CookieStore Delivery LoopHome MemoryCache ProtocolLoad Record RequestValues
                ResponseValues SessionEngine SessionHome SessionSettings TaskLoader TaskSnapshot TaskSpec
                URLCacheLoading URLRequest URLSession URLSessionAsync URLSessionTask UploadContent
                """,
                "UncurlClient": """
                Attempt Client ClientSettings HeldLoad Load LoadOwner Request RequestBuilder
                """,
            ]) { $1 }
        ),
        Walk(
            "HTTPSessionManager.get(_:as:), down and up",
            ceiling: 76,
            exchange.merging([
                "URLLoading": """
                CompletionReport CookieStore Delivery LoopHome MemoryCache ProtocolLoad Record RequestValues
                ResponseValues SessionEngine SessionHome SessionSettings TaskEvent TaskLoader TaskSnapshot
                TaskSpec URLCacheLoading URLRequest URLSession URLSessionTask UploadContent
                """,
                "UncurlClient": """
                Attempt Client ClientSettings HeldLoad Load LoadOwner Request RequestBuilder
                """,
                "Uncurl": """
                EventMonitor HTTPRequest HTTPSessionManager ManagerCore RequestDefaults RequestOptions
                RequestPlanning RequestSerializer Response ResponseSerializer ResponseValidation TaskDelegate
                TransferControl TransferProgress TransferRun URLSessionManager URLSessionManagerTasks
                """,
            ]) { $1 }
        ),
        Walk(
            "a form, from its parts to sendfile",
            ceiling: 20,
            [
                "UncurlEngine": """
                BodyReader ConnectionSending EngineRequest Exchange Link
                """,
                "UncurlSemantics": """
                MultipartLayout
                """,
                "UncurlReactor": """
                OpenFile Socket
                """,
                "UncurlClient": """
                Load RequestBuilder
                """,
                "URLLoading": """
                RequestValues TaskLoader TaskSpec UploadContent
                """,
                "Uncurl": """
                HTTPRequest MultipartForm RequestPlanning RequestSerializer TransferRun URLSessionManagerTasks
                """,
            ]
        ),
        Walk(
            "a cancel",
            ceiling: 14,
            [
                "UncurlEngine": """
                Connection Engine Link
                """,
                "UncurlReactor": """
                EventLoop
                """,
                "UncurlClient": """
                HeldLoad
                """,
                "URLLoading": """
                CallbackQueue CompletionReport Delivery LoopHome SessionEngine SessionHome TaskLoader
                TaskSnapshot URLSessionTask
                """,
            ]
        ),
        Walk(
            "a redirect, asked and followed",
            ceiling: 13,
            [
                "UncurlEngine": """
                Connection
                """,
                "UncurlSemantics": """
                AnswerMachine RedirectRule URIReference
                """,
                "UncurlClient": """
                Answer Attempt HeldLoad Load
                """,
                "URLLoading": """
                CallbackQueue Delivery TaskEvent TaskLoader URLSessionTaskDelegate
                """,
            ]
        ),
        Walk(
            "a Digest challenge",
            ceiling: 22,
            [
                "UncurlEngine": """
                Connection
                """,
                "UncurlSemantics": """
                AnswerMachine AuthenticationChallenge AuthorizationMemory Authorizer ChallengeQuestion
                DigestAuthentication
                """,
                "UncurlClient": """
                Answer Attempt HeldLoad Load
                """,
                "URLLoading": """
                CallbackQueue CredentialStore Delivery SessionEngine TaskEvent TaskLoader
                URLAuthenticationChallenge URLCredential URLCredentialStorage URLProtectionSpace
                URLSessionTaskDelegate
                """,
            ]
        ),
        Walk(
            "a download to disk, above the parser",
            ceiling: 14,
            [
                "UncurlEngine": """
                Connection ConnectionMachine
                """,
                "UncurlReactor": """
                WritableFile
                """,
                "UncurlClient": """
                Load
                """,
                "URLLoading": """
                CallbackQueue CompletionReport ContentSum Delivery DownloadFile ResumeData StoreFile TaskLoader
                TaskResuming URLSessionTaskDelegate
                """,
            ]
        ),
        Walk(
            "a request of volley, in a closed loop",
            ceiling: 26,
            [
                "UncurlHTTP1": """
                BodyDecoder BodyFraming FieldLineParser MessageHead MessageReader ResponseParser Scanners
                """,
                "UncurlEngine": """
                Connection ConnectionMachine ConnectionPool ConnectionSending Engine Exchange ExchangeReport
                Link
                """,
                "UncurlLoad": """
                ConnectPacer EngineRequests LatencyHistogram Metrics Worker WorkerMetrics
                """,
                "UncurlReactor": """
                EventLoop Poller Socket SystemCall
                """,
            ]
        ),
    ]

    @Test(
        "a walk leads through files that there are, each once, and no more of them than its ceiling",
        arguments: walks
    )
    func walk(walk: Walk) {
        let there = Dictionary(grouping: SourceTree.sources, by: \.room).mapValues { Set($0.map(\.name)) }
        for (room, name) in walk.paths { #expect(there[room]?.contains(name + ".swift") == true, "\(room): \(name)") }
        #expect(Set(walk.paths.map { "\($0.room)/\($0.name)" }).count == walk.paths.count)
        #expect(walk.paths.count <= walk.ceiling)
    }
}
