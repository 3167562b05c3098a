internal import Foundation
internal import UncurlSemantics

/// The data from which an upload can resume: the URL at which the server keeps it, the request that began it, and the
/// source of its content. It is stored as the resume data of downloads is.
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

    private enum Key {
        static let version = "NSURLSessionResumeInfoVersion"
        static let request = "URLLoadingUploadRequest"
        static let resource = "URLLoadingUploadResource"
        static let draft = "URLLoadingUploadDraft"
        static let data = "URLLoadingUploadData"
        static let path = "URLLoadingUploadPath"
        /// Inode, size, seconds, nanoseconds.
        static let state = "URLLoadingUploadFileState"
        /// The key of ``URLRequest/hasLeftOrigin``; absent if it is false.
        static let hasLeftOrigin = "URLLoadingUploadHasLeftOrigin"
    }

    private static let version = 1

    /// Nil for data that this module has not written, or that was changed.
    init?(_ data: Data) {
        guard let list = XMLPropertyList.readSealed(data),
            list[Key.version] as? Int == UploadResumeData.version,
            let octets = list[Key.request] as? Data,
            let draft = (list[Key.draft] as? Int).flatMap({ UploadDraft(rawValue: $0) }),
            let resource = (list[Key.resource] as? String).flatMap({ URL(string: $0) }), WebOrigin(resource) != nil
        else { return nil }
        guard let values = OctetReader.request(octets) else { return nil }
        request = URLRequest(storage: RequestStorage(values))
        request.values.hasLeftOrigin = list[Key.hasLeftOrigin] as? Bool == true
        self.resource = resource
        self.draft = draft
        if let path = list[Key.path] as? String {
            content = .file(path, (list[Key.state] as? [Int]).flatMap { StoreFile.State(numbers: $0) })
        } else if let data = list[Key.data] as? Data {
            content = .data(data)
        } else {
            content = .stream
        }
    }

    var data: Data? {
        var list: [String: Any] = [
            Key.version: UploadResumeData.version, Key.request: Data(OctetWriter.octets(of: request)),
            Key.resource: resource.absoluteString, Key.draft: draft.rawValue,
        ]
        if request.hasLeftOrigin { list[Key.hasLeftOrigin] = true }
        switch content {
        case .data(let data): list[Key.data] = data
        case .file(let path, let state):
            list[Key.path] = path
            if let state { list[Key.state] = state.numbers }
        case .stream: break
        }
        return XMLPropertyList.sealed(list)
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
