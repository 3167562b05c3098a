internal import Foundation

/// What is on disk of one task of a background session: enough for another process to go on with it, or to tell how it ended.
struct BackgroundRecord: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case download, upload }

    enum State: String, Codable, Sendable { case suspended, running, finished }

    /// A file that a download is writing, and by what to know the content in it.
    struct Part: Codable, Sendable {
        var path: String
        /// For If-Range; nil where nothing tells the content apart, so that it cannot be gone on with.
        var validator: String?
        /// The length of the whole; -1 where nobody knows.
        var expected: Int64
        /// The kernel's number for this run of the machine. After its fall nobody knows which of the bytes reached the disk.
        var boot: String
    }

    /// How it ended, until the delegate has been told.
    struct Outcome: Codable, Sendable {
        /// A failure's number in `NSURLErrorDomain`; nil for none.
        var code: Int?
        var reason: String?
        /// What a failed download leaves for a later one.
        var resumeData: Data?
        /// Of a download: the whole content.
        var path: String?
        /// Of an upload: the answer's content, up to ``KeptAnswer/mostInMemory``.
        var content: Data?
        /// The same where there is more of it: a file.
        var contentPath: String?
    }

    static let version = 1

    var version = BackgroundRecord.version
    let number: Int
    let kind: Kind
    /// Archived; what a record cannot hold was refused when the task was made.
    var request: Data
    /// Of an upload: the file.
    var source: String?
    var state = State.suspended
    var part: Part?
    /// The head of the answer, archived.
    var response: Data?
    var outcome: Outcome?
    var taskDescription: String?
    var priority: Float
    var beginDate: Date?
    var expectsToSend: Int64
    var expectsToReceive: Int64
    /// When the task was resumed for the first time: the limit of the whole resource counts from here.
    var begun: Date?

    // MARK: Foundation's objects

    static func archive(_ request: URLRequest) -> Data? {
        try? NSKeyedArchiver.archivedData(withRootObject: NSURLRequest(request), requiringSecureCoding: true)
    }

    static func archive(_ response: HTTPURLResponse) -> Data? {
        try? NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
    }

    var urlRequest: URLRequest? {
        let archived = try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: request)
        return archived?.request
    }

    var urlResponse: HTTPURLResponse? {
        response.flatMap { try? NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: $0) }
    }
}
