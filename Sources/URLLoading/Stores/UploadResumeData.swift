internal import Foundation
internal import UncurlReactor
internal import UncurlSemantics

/// The data from which an upload can resume: the URL at which the server keeps it, the request that began it, and the
/// source of its content. It is stored as the resume data of downloads is.
struct UploadResumeData: Sendable {
    enum Content: Sendable {
        /// The octets themselves: the resume data may hold their only copy.
        case data(Data)
        /// A file's path, and the file's state when it was sent first; nil where the state could not be read.
        case file(String, StoreFile?)
        /// A stream, for which the delegate is asked (`needNewBodyStreamFrom`).
        case stream
    }

    /// The request that began the upload, with the fields that the program has set.
    var request: URLRequest
    let resource: URL
    let draft: UploadDraft
    let content: Content
}

extension UploadResumeData {
    /// Nil for data that this module has not written, or that was changed.
    init?(_ data: Data) {
        guard let read = StoreRecord.value(of: Array(data), .upload, as: Self.self),
            URIReference(read.resource).origin != nil
        else { return nil }
        self = read
    }

    var data: Data? { StoreRecord.file(.upload, of: self).map { Data($0) } }
}

extension UploadResumeData: Kept {
    static func keep(_ data: UploadResumeData?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: data, Self.init, \.request.forResumption, \.resource, \.draft, \.content)
    }
}

extension UploadDraft: Kept {}

extension UploadResumeData.Content: Kept {
    static func keep(_ content: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        var (path, state, data): (String?, StoreFile?, Data?)
        switch content {
        case .file(let file, let known)?: (path, state) = (file, known)
        case .data(let octets)?: data = octets
        case .stream?, nil: break
        }
        if let path = try record.row(optional: path) { return .file(path, try record.row(optional: state)) }
        return try record.row(optional: data).map { .data($0) } ?? .stream
    }
}
