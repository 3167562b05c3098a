internal import Foundation
internal import UncurlReactor
internal import UncurlSemantics

/// The record of one task of a background session. It has all that another process needs to continue the task or to
/// report its end.
struct BackgroundRecord: Sendable {
    enum State: Int, Sendable { case suspended, running, finished }

    /// Where a server keeps a resumable upload, and how its file is identified.
    struct Upload: Sendable {
        var resource: URL
        var draft: UploadDraft
        var file: StoreFile?
    }

    /// The file of a download under way, and how its content is identified.
    struct Part: Sendable {
        var path: String
        /// The validator for If-Range; nil where the download cannot be resumed because nothing identifies the content.
        var validator: String?
        /// The length of the whole content; -1 where it is unknown.
        var expected: Int64
        /// The kernel's identifier of this boot. After a crash of the machine it is unknown which bytes reached the
        /// disk.
        var boot: String
    }

    /// The end of the task, until it has been reported to the delegate.
    struct Outcome: Sendable {
        /// The code of a failure in `NSURLErrorDomain`; nil for none.
        var code: Int?
        var reason: String?
        /// The resume data of a failed transfer.
        var resumeData: Data?
        /// The file of a finished download.
        var path: String?
        /// The sum of the file at ``path`` or ``contentPath``.
        var sum: ContentSum?
        /// The content of an upload's answer, up to ``KeptAnswer/mostInMemory``.
        var content: Data?
        /// The file of an upload's answer with more content.
        var contentPath: String?
    }

    var number: Int
    /// The request. Content that a record cannot hold, such as a stream, was refused when the task was made.
    var request: URLRequest
    /// The file of an upload; nil for a download.
    var source: String?
    var state = State.suspended
    var part: Part?
    var response: HTTPURLResponse?
    var outcome: Outcome?
    var taskDescription: String?
    var priority: Float
    var beginDate: Date?
    var expectsToSend: Int64
    var expectsToReceive: Int64
    /// When the task was resumed for the first time. The time limit of the resource counts from then.
    var begun: Date?
    /// The state of a resumable upload, once its server has named it.
    var upload: Upload?
}

extension BackgroundRecord: Kept {
    /// The file's content; nil for a record that no file can hold.
    func encoded() -> [UInt8]? { StoreRecord.file(.backgroundTask, of: self) }

    /// Nil for a damaged file, or one that ``encoded()`` has not written.
    init?(_ bytes: [UInt8]) {
        guard let record = StoreRecord.value(of: bytes, .backgroundTask, as: Self.self) else { return nil }
        self = record
    }

    static func keep(_ value: BackgroundRecord?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = BackgroundRecord(
            number: try record.row(value?.number),
            request: try record.row(value?.request),
            priority: try record.row(value?.priority),
            expectsToSend: try record.row(value?.expectsToSend),
            expectsToReceive: try record.row(value?.expectsToReceive)
        )
        try record.rows(of: value, in: &kept, \.source, \.state, \.part)
        kept.response = try response(try record.row(optional: value?.response?.values))
        try record.rows(of: value, in: &kept, \.outcome, \.taskDescription)
        kept.beginDate = try record.row(optional: value?.beginDate?.finite)
        try record.rows(of: value, in: &kept, \.begun, \.upload)
        return kept
    }

    private static func response(_ values: ResponseValues?) throws(Errno) -> HTTPURLResponse? {
        guard let values else { return nil }
        guard let response = URLResponse.make(values) as? HTTPURLResponse else { throw StoreFile.damage }
        return response
    }
}

extension Date {
    /// The date as it can be read back: infinity becomes the distant future, and any other date that is not finite
    /// becomes nil.
    fileprivate var finite: Date? {
        if timeIntervalSinceReferenceDate.isFinite { return self }
        return timeIntervalSinceReferenceDate == .infinity ? .distantFuture : nil
    }
}

extension BackgroundRecord.State: Kept {}

extension BackgroundRecord.Part: Kept {
    static func keep(_ part: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: part, Self.init, \.path, \.validator, \.expected, \.boot)
    }
}

extension BackgroundRecord.Upload: Kept {
    static func keep(_ upload: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: upload, Self.init(resource:draft:file:), \.resource, \.draft, \.file)
    }
}

extension BackgroundRecord.Outcome: Kept {
    static func keep(_ outcome: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = Self()
        try record.rows(of: outcome, in: &kept, \.code, \.reason, \.resumeData, \.path, \.sum, \.content, \.contentPath)
        return kept
    }
}

/// The record of a resumable upload, and how a task continues from it.
extension BackgroundRecord.Upload {
    /// Nil for content that does not outlive its process.
    init?(_ upload: UploadResumeData) {
        guard case .file(_, let state) = upload.content else { return nil }
        self.init(resource: upload.resource, draft: upload.draft, file: state)
    }
}

extension BackgroundRecord {
    /// Nil for an upload that starts over.
    var uploadResumeData: UploadResumeData? {
        guard let upload, let source else { return nil }
        return UploadResumeData(
            request: request,
            resource: upload.resource,
            draft: upload.draft,
            content: .file(source, upload.file)
        )
    }
}
