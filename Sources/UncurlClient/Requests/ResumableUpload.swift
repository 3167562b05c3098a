internal import UncurlHTTP1
package import UncurlSemantics

/// An upload that can resume after an interruption: its machine, and the requests that carry out the machine's steps.
/// Loop-confined; most tasks have none.
package final class ResumableUpload {
    package private(set) var machine: UploadMachine
    /// The first request, before redirects: an upload that begins anew sends it again.
    private var original: Request
    /// The first request, after redirects.
    package private(set) var creation: Request
    /// The file that is the content; nil for other content.
    package let file: (any UploadedFile)?
    /// The fields that are not sent to another origin.
    private let secrets: SecretFields

    /// - Parameters:
    ///   - length: the content's length, in octets; -1 where it is not known.
    ///   - isPatient: whether the upload is tried again after failures of the network, for as long as the task may
    ///     take.
    package init(
        _ original: Request,
        _ draft: UploadDraft,
        length: Int64,
        file: (any UploadedFile)?,
        resource: String?,
        secrets: SecretFields,
        isPatient: Bool
    ) {
        self.original = original
        creation = original
        (self.file, self.secrets) = (file, secrets)
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

    /// In octets; -1 where it is not known.
    var length: Int64 { machine.length ?? -1 }

    /// Replaces the first request, before anything is sent.
    package func begin(with request: Request) { (original, creation) = (request, request) }

    /// Notes that a request with all of the content is sent: the first one, or one after a redirect or a challenge.
    ///
    /// - Parameter hasLeftOrigin: whether a redirect has led to another origin.
    func create(_ request: Request, hasLeftOrigin: Bool) {
        creation = request
        if hasLeftOrigin { creation.hasLeftOrigin = true }
        machine.create(length: file?.note() ?? machine.length)
    }

    /// Returns the request to send next.
    func nextRequest() -> Request {
        // If the file has changed, its rest does not fit what the server has, so all of it is sent again.
        if !machine.isCreating, file?.hasChanged == true { machine.changeContent() }
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
    ) -> Request {
        let isElsewhere = creation.web.origin != resource.origin
        var next = creation
        (next.method, next.url) = (method, resource.text)
        // A stored response does not say how far the upload has come now.
        next.cacheMode = .bypass
        var kept = creation.fields ?? HTTPFields()
        kept.removeAll { index in
            let name = (creation.fields ?? HTTPFields()).name(at: index).lowercased()
            let isOfContent = name.hasPrefix("content-") || ResumableUpload.ofContent.contains(name)
            return isOfContent || isElsewhere && secrets.contains(name)
        }
        for (name, value) in fields { try? kept.replace(name, value) }
        // Only this field states the length of a stream.
        if let length { try? kept.replace("Content-Length", "\(length)") }
        next.fields = kept
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
    func inform(
        _ status: Int,
        _ fields: HTTPFields,
        to url: URIReference,
        reading read: @Sendable (String) -> URIReference?
    ) -> Bool {
        machine.inform(status, fields, to: url, reading: read)
    }

    func receive(_ response: LocatedHead) -> UploadStep { machine.receive(response.status, response.fields) }

    func fail(isTransient: Bool) -> UploadStep { machine.fail(isTransient: isTransient) }
}

/// A file that is uploaded.
package protocol UploadedFile: AnyObject {
    /// Notes the file's state, and returns its length in octets; nil where it cannot be read.
    func note() -> Int64?

    /// Whether its state is another one than was noted last.
    var hasChanged: Bool { get }
}
