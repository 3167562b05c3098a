internal import Foundation
internal import UncurlSemantics

/// The record of one task of a background session. It has all that another process needs to continue the task or to
/// report its end.
struct BackgroundRecord: Sendable {
    enum Kind: UInt8, Sendable { case download, upload }

    enum State: UInt8, Sendable { case suspended, running, finished }

    /// Where a server keeps a resumable upload, and how its file is identified.
    struct Upload: Sendable {
        var resource: URL
        /// The version of the draft.
        var draft: UploadDraft
        var file: StoreFile.State?
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

    let number: Int
    let kind: Kind
    /// The request. Content that a record cannot hold, such as a stream, was refused when the task was made.
    var request: URLRequest
    /// The file of an upload.
    var source: String?
    var state = State.suspended
    var part: Part?
    /// The head of the answer.
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

/// Reads and writes a record as a file: a ``StoreSeal``, then the fields in order.
extension BackgroundRecord {
    static let seal = StoreSeal(kind: 1, format: 3)

    /// The file's content; nil where it cannot be sealed.
    func encoded() -> [UInt8]? {
        var writer = OctetWriter()
        writer.put(Int64(number))
        writer.put(kind.rawValue)
        writer.put(request.values)
        writer.put(source)
        writer.put(state.rawValue)
        writer.put(optional: part) { $0.put($1) }
        writer.put(optional: response) { $0.put($1.values) }
        writer.put(optional: outcome) { $0.put($1) }
        writer.put(taskDescription)
        writer.put(Double(priority))
        writer.put(optional: beginDate?.finite) { $0.put($1.timeIntervalSinceReferenceDate) }
        writer.put(expectsToSend)
        writer.put(expectsToReceive)
        writer.put(optional: begun) { $0.put($1.timeIntervalSinceReferenceDate) }
        writer.put(optional: upload) { $0.put($1) }
        // Only such records have these values: the others stay as earlier processes have written them.
        let hasExtras = request.values.hasExtras
        if request.hasLeftOrigin || hasExtras { writer.put(request.hasLeftOrigin) }
        if hasExtras { writer.put(extras: request.values) }
        return Self.seal.closed(writer.bytes)
    }

    /// Nil for a damaged file, or one that ``encoded()`` has not written.
    init?(_ bytes: [UInt8]) {
        guard let content = Self.seal.content(of: bytes) else { return nil }
        do throws(OctetReader.Malformed) {
            var reader = OctetReader(content)
            try self.init(from: &reader)
            guard reader.isAtEnd else { return nil }
        } catch {
            return nil
        }
    }

    private init(from reader: inout OctetReader) throws(OctetReader.Malformed) {
        guard let number = Int(exactly: try reader.number()), let kind = Kind(rawValue: try reader.octet()) else {
            throw OctetReader.Malformed()
        }
        self.number = number
        self.kind = kind
        request = URLRequest(storage: RequestStorage(try reader.request()))
        source = try reader.optionalText()
        guard let state = State(rawValue: try reader.octet()), source != nil || kind != .upload else {
            throw OctetReader.Malformed()
        }
        self.state = state
        part = try reader.optional { reader throws(OctetReader.Malformed) in try reader.part() }
        response = try reader.optional { reader throws(OctetReader.Malformed) in
            guard let response = URLResponse.make(try reader.response()) as? HTTPURLResponse else {
                throw OctetReader.Malformed()
            }
            return response
        }
        outcome = try reader.optional { reader throws(OctetReader.Malformed) in try reader.outcome() }
        taskDescription = try reader.optionalText()
        priority = Float(try reader.double())
        beginDate = try reader.optional { reader throws(OctetReader.Malformed) in try reader.date() }
        expectsToSend = try reader.number()
        expectsToReceive = try reader.number()
        begun = try reader.optional { reader throws(OctetReader.Malformed) in try reader.date() }
        upload = try reader.optional { reader throws(OctetReader.Malformed) in try reader.upload() }
        if !reader.isAtEnd { request.values.hasLeftOrigin = try reader.flag() }
        if !reader.isAtEnd { try reader.extras(of: &request.values) }
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

extension OctetWriter {
    fileprivate mutating func put(_ part: BackgroundRecord.Part) {
        put(part.path)
        put(part.validator)
        put(part.expected)
        put(part.boot)
    }

    fileprivate mutating func put(_ upload: BackgroundRecord.Upload) {
        put(upload.resource.absoluteString)
        put(UInt8(clamping: upload.draft.rawValue))
        put(optional: upload.file) { writer, file in for number in file.numbers { writer.put(Int64(number)) } }
    }

    fileprivate mutating func put(_ outcome: BackgroundRecord.Outcome) {
        put(optional: outcome.code) { $0.put(Int64($1)) }
        put(outcome.reason)
        put(optional: outcome.resumeData) { $0.put($1) }
        put(outcome.path)
        put(optional: outcome.content) { $0.put($1) }
        put(outcome.contentPath)
        put(optional: outcome.sum) { $0.append($1.encoded) }
    }
}

extension OctetReader {
    fileprivate mutating func part() throws(Malformed) -> BackgroundRecord.Part {
        let (path, validator) = (try text(), try optionalText())
        return BackgroundRecord.Part(path: path, validator: validator, expected: try number(), boot: try text())
    }

    fileprivate mutating func upload() throws(Malformed) -> BackgroundRecord.Upload {
        guard let resource = URL(string: try text()), let draft = UploadDraft(rawValue: Int(try octet())) else {
            throw Malformed()
        }
        let file = try optional { reader throws(Malformed) -> StoreFile.State in
            var numbers: [Int] = []
            for _ in 0..<4 { numbers.append(Int(try reader.number())) }
            guard let state = StoreFile.State(numbers: numbers) else { throw Malformed() }
            return state
        }
        return BackgroundRecord.Upload(resource: resource, draft: draft, file: file)
    }

    fileprivate mutating func outcome() throws(Malformed) -> BackgroundRecord.Outcome {
        var outcome = BackgroundRecord.Outcome()
        outcome.code = try optional { reader throws(Malformed) in
            guard let code = Int(exactly: try reader.number()) else { throw Malformed() }
            return code
        }
        outcome.reason = try optionalText()
        outcome.resumeData = try optional { reader throws(Malformed) in Data(try reader.octets()) }
        outcome.path = try optionalText()
        outcome.content = try optional { reader throws(Malformed) in Data(try reader.octets()) }
        outcome.contentPath = try optionalText()
        outcome.sum = try optional { reader throws(Malformed) in
            guard let sum = ContentSum(encoded: Array(try reader.octets(ContentSum.encodedLength))) else {
                throw Malformed()
            }
            return sum
        }
        return outcome
    }

    /// A date. A number that is not finite is malformed.
    fileprivate mutating func date() throws(Malformed) -> Date {
        let seconds = try double()
        guard seconds.isFinite else { throw Malformed() }
        return Date(timeIntervalSinceReferenceDate: seconds)
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
