internal import Foundation
internal import HTTPSemantics

/// The data from which an upload can resume: the URL at which the server keeps it, the request that began it, and the
/// source of its content. It is stored as a property list, like the resume data of downloads.
struct UploadResumeData: Sendable {
    /// The source of the content.
    enum Content: Sendable {
        /// The octets themselves: the resume data may hold their only copy.
        case data(Data)
        /// A file's path, and the file's state when it was sent first; nil where the state could not be read.
        case file(String, StoreFile.State?)
        /// A stream, for which the delegate is asked (`needNewBodyStreamFrom`).
        case stream
    }

    /// The request that began the upload, with the fields that the program has set.
    var request: URLRequest
    let resource: URL
    let draft: UploadDraft
    let content: Content

    init(request: URLRequest, resource: URL, draft: UploadDraft, content: Content) {
        self.request = request
        self.resource = resource
        self.draft = draft
        self.content = content
    }

    /// The property list.
    private struct List: Codable {
        private enum CodingKeys: String, CodingKey {
            case version = "NSURLSessionResumeInfoVersion"
            case request = "URLLoadingUploadRequest"
            case resource = "URLLoadingUploadResource"
            case draft = "URLLoadingUploadDraft"
            case data = "URLLoadingUploadData"
            case path = "URLLoadingUploadPath"
            case state = "URLLoadingUploadFileState"
        }

        let version: Int
        let request: Data
        let resource: String
        let draft: Int
        var data: Data?
        var path: String?
        /// Inode, size, seconds, nanoseconds.
        var state: [Int]?
    }

    private static let version = 1

    /// Nil for data that this module has not written, or that was changed.
    init?(_ data: Data) {
        guard let list = XMLPropertyList.decode(List.self, from: data),
            list.version == UploadResumeData.version, let draft = UploadDraft(rawValue: list.draft),
            let resource = URL(string: list.resource), WebOrigin(resource) != nil,
            let values = OctetReader.request(list.request)
        else { return nil }
        request = URLRequest(storage: RequestStorage(values))
        self.resource = resource
        self.draft = draft
        if let path = list.path {
            content = .file(path, list.state.flatMap { StoreFile.State(numbers: $0) })
        } else if let data = list.data {
            content = .data(data)
        } else {
            content = .stream
        }
    }

    var data: Data? {
        var list = List(
            version: UploadResumeData.version,
            request: Data(OctetWriter.octets(of: request)),
            resource: resource.absoluteString,
            draft: draft.rawValue
        )
        switch content {
        case .data(let data): list.data = data
        case .file(let path, let state): (list.path, list.state) = (path, state?.numbers)
        case .stream: break
        }
        return XMLPropertyList.encode(list)
    }
}

extension StoreFile.State {
    /// The state as a property list holds it.
    var numbers: [Int] { [Int(bitPattern: UInt(inode)), Int(size), Int(seconds), Int(nanoseconds)] }

    /// Nil for a list of another length than that of ``numbers``.
    init?(numbers: [Int]) {
        guard numbers.count == 4 else { return nil }
        self.init(
            inode: UInt64(UInt(bitPattern: numbers[0])),
            size: Int64(numbers[1]),
            seconds: Int64(numbers[2]),
            nanoseconds: Int64(numbers[3])
        )
    }
}
