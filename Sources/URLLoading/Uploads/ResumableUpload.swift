internal import Foundation
internal import UncurlHTTP1
internal import UncurlSemantics

/// An upload that can resume after an interruption: its machine, and the requests that carry out the machine's steps.
/// Loop-confined; most tasks have none.
final class ResumableUpload {
    private(set) var machine: UploadMachine
    /// The first request, before redirects: an upload that begins anew sends it again.
    private var original: URLRequest
    /// The first request, after redirects.
    private var creation: URLRequest
    /// The source of the content.
    private let content: UploadResumeData.Content
    /// The state of the file when it was first sent.
    private var file: StoreFile.State?
    /// The fields that are not sent to another origin.
    private let secrets: SecretFields

    /// - Parameters:
    ///   - length: the content's length, in octets; -1 where it is not known.
    ///   - isPatient: whether the upload is tried again after failures of the network, for as long as the task may
    ///     take.
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
            resource: resource.map { URIReference($0) },
            isPatient: isPatient
        )
    }

    // MARK: Requests

    /// Whether the next request is a HEAD that asks how much has arrived.
    var isAsking: Bool { if case .askOffset = machine.request { true } else { false } }

    /// Where the content of the next request begins; nil for a request that has all of it, or none.
    var rest: Int64? { if case .append(_, let offset, _) = machine.request { offset } else { nil } }

    /// The fields that the first request gets besides its own.
    var creationFields: [(name: String, value: String)] {
        if case .create(let fields) = machine.request, !machine.isOver { fields } else { [] }
    }

    /// The URL of the first request, after redirects.
    var creationURL: URL? { creation.url }

    /// In octets; -1 where it is not known.
    var length: Int64 { machine.length ?? -1 }

    /// Replaces the first request, before anything is sent.
    func begin(with request: URLRequest) { (original, creation) = (request, request) }

    /// Notes that a request with all of the content is sent: the first one, or one after a redirect or a challenge.
    ///
    /// - Parameter hasLeftOrigin: whether a redirect has led to another origin.
    func create(_ request: URLRequest, hasLeftOrigin: Bool) {
        creation = request
        if hasLeftOrigin { creation.values.hasLeftOrigin = true }
        if case .file(let path, _) = content { file = StoreFile.state(path) }
        machine.create(length: file?.size ?? machine.length)
    }

    /// Returns the request to send next.
    func nextRequest() -> URLRequest {
        // If the file has changed, its rest does not fit what the server has, so all of it is sent again.
        if !machine.isCreating, case .file(let path, _) = content, StoreFile.state(path) != file {
            machine.changeContent()
        }
        switch machine.request {
        case .create:
            create(original, hasLeftOrigin: false)
            return original
        case .askOffset(let resource, let fields): return request("HEAD", resource, fields, length: nil)
        case .append(let resource, let offset, let fields):
            return request("PATCH", resource, fields, length: machine.length.map { $0 - offset })
        }
    }

    /// Returns a request for the resource, with those fields of the first request that are not about its content.
    private func request(
        _ method: String,
        _ resource: URIReference,
        _ fields: [(name: String, value: String)],
        length: Int64?
    ) -> URLRequest {
        guard let url = resource.url else { return creation }
        let isElsewhere = creation.url.flatMap { URIReference($0).origin } != resource.origin
        var next = URLRequest(storage: RequestStorage(creation.values))
        next.url = url
        next.httpMethod = method
        next.values.body = .none
        // A stored response does not say how far the upload has come now.
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
        // Only this field states the length of a stream.
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
        machine.inform(status, fields, to: URIReference(url), reading: URIReference.read)
    }

    func receive(_ response: HTTPURLResponse) -> UploadStep {
        machine.receive(response.statusCode, response.fields.list)
    }

    func fail(isTransient: Bool) -> UploadStep { machine.fail(isTransient: isTransient) }

    // MARK: For later

    /// The data from which another task can resume; nil if the upload is over, or its server has named no resource for
    /// it.
    var resumeData: UploadResumeData? {
        guard let resource = machine.resource?.url else { return nil }
        var content = content
        if case .file(let path, _) = content { content = .file(path, file) }
        return UploadResumeData(request: creation, resource: resource, draft: machine.draft, content: content)
    }
}
