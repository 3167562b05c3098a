internal import Foundation
internal import HTTP1
internal import HTTPSemantics

/// An upload that can go on where it was cut, on its session's loop: its machine, and the requests that Foundation's
/// types make of what that says. Loop-confined; most tasks have none.
final class ResumableUpload {
    private(set) var machine: UploadMachine
    /// The first request, before redirects: an upload that begins anew sends it again.
    private let original: URLRequest
    /// The first request, after redirects.
    private var creation: URLRequest
    /// Where its content is.
    private let content: UploadResumeData.Content
    /// The file as it was when it was sent first.
    private var file: StoreFile.State?
    /// The fields that another origin is not sent.
    private let secrets: SecretFields

    /// - Parameters:
    ///   - length: of the content, in octets; -1 where it is not known.
    ///   - isPatient: failures of the network are tried again for as long as the task may take.
    init(
        _ original: URLRequest,
        _ content: UploadResumeData.Content,
        _ draft: UploadDraft,
        length: Int64,
        resource: URL?,
        secrets: SecretFields,
        isPatient: Bool
    ) {
        self.original = original
        creation = original
        self.content = content
        self.secrets = secrets
        if case .file(_, let state) = content { file = state }
        machine = UploadMachine(
            draft,
            length: length < 0 ? nil : length,
            resource: resource.map { WebURL($0) },
            isPatient: isPatient
        )
    }

    // MARK: Requests

    /// The next request is a HEAD for how much has come.
    var isAsking: Bool { if case .askOffset = machine.request { true } else { false } }

    /// Where the content of the next request begins; nil for a request that has all of it, or none.
    var rest: Int64? { if case .append(_, let offset, _) = machine.request { offset } else { nil } }

    /// Of the first request, besides its own.
    var creationFields: [(name: String, value: String)] {
        if case .create(let fields) = machine.request, !machine.isOver { fields } else { [] }
    }

    /// Where the first request went.
    var creationURL: URL? { creation.url }

    /// In octets; -1 where it is not known.
    var length: Int64 { machine.length ?? -1 }

    /// A request with all of the content goes out: the first, one that a redirect leads to, or the same with an answer
    /// to a challenge.
    func create(_ request: URLRequest) {
        creation = request
        machine.create()
        if case .file(let path, _) = content { file = StoreFile.state(path) }
    }

    /// What goes out next.
    func nextRequest() -> URLRequest {
        // The file has changed: its rest does not fit what the server has, and all of it is sent anew.
        if !machine.isCreating, case .file(let path, _) = content, StoreFile.state(path) != file {
            machine.changeContent()
        }
        switch machine.request {
        case .create:
            create(original)
            return original
        case .askOffset(let resource, let fields): return request("HEAD", resource, fields, length: nil)
        case .append(let resource, let offset, let fields):
            return request("PATCH", resource, fields, length: machine.length.map { $0 - offset })
        }
    }

    /// A request for the resource, with what the first one says of its sender.
    private func request(
        _ method: String,
        _ resource: WebURL,
        _ fields: [(name: String, value: String)],
        length: Int64?
    ) -> URLRequest {
        guard let url = resource.url else { return creation }
        let isElsewhere = creation.url.flatMap { WebOrigin($0) } != resource.origin
        var next = URLRequest(storage: RequestStorage(creation.values))
        next.url = url
        next.httpMethod = method
        next.values.body = .none
        // What a cache has stored of the resource says nothing of how far the upload has come now.
        next.cachePolicy = .reloadIgnoringLocalCacheData
        next.values.changeFields { [secrets] all in
            var kept = all
            for index in (0..<all.count).reversed() {
                let name = all.name(at: index).lowercased()
                let isOfContent = name.hasPrefix("content-") || ResumableUpload.ofContent.contains(name)
                if isOfContent || isElsewhere && secrets.contains(name) { kept.remove(name: name) }
            }
            return kept
        }
        for (name, value) in fields { next.setValue(value, forHTTPHeaderField: name) }
        // A stream cannot say its length otherwise.
        if let length { next.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        return next
    }

    /// Fields that are about the first request's content, or are conditions of its resource (RFC 9110 §13.1).
    private static let ofContent: Set<String> = [
        "transfer-encoding", "trailer", "expect", "digest", "repr-digest", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since", "if-range", "range",
    ]

    // MARK: What comes back

    /// Takes in an informational response.
    ///
    /// - Returns: true if the response has said where the upload can be resumed.
    func inform(_ status: Int, _ fields: HTTPFields, to url: URL) -> Bool {
        machine.inform(status, fields, to: WebURL(url), reading: WebURL.read)
    }

    func receive(_ response: HTTPURLResponse) -> UploadStep {
        machine.receive(response.statusCode, response.fields.list)
    }

    func fail(isTransient: Bool) -> UploadStep { machine.fail(isTransient: isTransient) }

    // MARK: For later

    /// What another task can go on from; nil where nothing is known of the upload, or it is over.
    var resumeData: UploadResumeData? {
        guard let resource = machine.resource?.url else { return nil }
        var content = content
        if case .file(let path, _) = content { content = .file(path, file) }
        return UploadResumeData(request: creation, resource: resource, draft: machine.draft, content: content)
    }
}
