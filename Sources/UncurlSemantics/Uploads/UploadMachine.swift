public import UncurlHTTP1

/// How an upload is resumed after its connection was lost (draft-ietf-httpbis-resumable-upload, versions 3, 5 and 6): a
/// value that is told what happens to its requests, and says which comes next.
///
/// ```
///              104 with Location              cut                 offset                     answer
///   creating ────────────────────▶ created ────────▶ asking ────────────────▶ appending ────────────────▶ over
///    ▲  │                             │               ▲ │ │                    │  │  │                      ▲
///    │  └──────── answer ─────────────┴───────────────┼─┼─┼────────────────────┼──┼──┼──────────────────────┤
///    │                                                │ │ └ Upload-Complete: ?1 ┼──┼──┼──────────────────────┘
///    │                                                └─┼──── cut, 409 ─────────┘  │
///    └──────────────── 404, 410, no offset ─────────────┴───────── 404, 410 ───────┘
/// ```
/// - creating: the first request has gone out, with all of the content. Nothing is known to go on from.
/// - created: the server has said where the upload is. Its answer may still come by itself.
/// - asking: a HEAD asks how much has come.
/// - appending: a PATCH sends the rest.
/// - over: the answer is there. No way leads out of it.
///
/// Every way back is counted: after ``tryLimit`` of them without another octet on the server it gives up; a patient
/// machine counts only those after an answer. It knows neither sockets nor clocks; its owner waits where an
/// ``UploadStep`` says so.
public struct UploadMachine: Sendable {
    private enum Phase: Hashable {
        case creating
        case created(URIReference)
        case asking(URIReference)
        case appending(URIReference, from: Int64)
        case over
    }

    /// How often in a row an upload may be resumed without another octet stored by the server, and how often it begins
    /// anew because the server has forgotten it.
    public static let tryLimit = 4

    /// The version of the draft that the requests use.
    public let draft: UploadDraft
    /// The length of the content in octets; nil if it is not known before the content's end.
    public private(set) var length: Int64?
    /// Whether failures of the network are retried until the owner's time is up. Answers of the server that lead
    /// nowhere count against ``tryLimit`` in any case.
    private let isPatient: Bool
    private var phase: Phase
    /// How often the upload went on after a failure of the network, since the server stored another octet.
    private var failures = 0
    /// How often it went on after an answer that led nowhere, since then.
    private var refusals = 0
    /// How often the upload began anew because the server had forgotten it.
    private var renewals = 0
    /// How many octets the server has acknowledged.
    private var acknowledged: Int64 = 0

    /// - Parameters:
    ///   - draft: the version that is spoken.
    ///   - length: of the content, in octets; nil where it is not known before the end.
    ///   - resource: where an earlier attempt has left the upload; nil for a new one.
    ///   - isPatient: failures of the network are tried again for as long as the owner lets it.
    public init(_ draft: UploadDraft, length: Int64?, resource: URIReference? = nil, isPatient: Bool = false) {
        self.draft = draft
        self.length = length
        self.isPatient = isPatient
        phase = resource.map { .asking($0) } ?? .creating
    }

    // MARK: Requests

    /// The next request to send.
    public var request: UploadRequest {
        switch phase {
        case .creating, .created, .over:
            var fields = draft.versionFields + [draft.completeField]
            if draft == .six, let length { fields.append(("Upload-Length", "\(length)")) }
            return .create(fields)
        case .asking(let resource): return .askOffset(resource, draft.versionFields)
        case .appending(let resource, let offset):
            var fields = draft.versionFields + [draft.completeField, ("Upload-Offset", "\(offset)")]
            if draft == .six { fields.append(("Content-Type", UploadDraft.mediaType)) }
            return .append(resource, offset: offset, fields)
        }
    }

    /// The URL at which the upload can be resumed; nil if the server has named none, or if the upload is over.
    public var resource: URIReference? {
        switch phase {
        case .creating, .over: nil
        case .created(let resource), .asking(let resource), .appending(let resource, _): resource
        }
    }

    /// Whether the request under way is the first one, which carries all of the content and may be redirected.
    public var isCreating: Bool {
        switch phase {
        case .creating, .created: true
        case .asking, .appending, .over: false
        }
    }

    /// Whether the answer to the upload has come.
    public var isOver: Bool { phase == .over }

    // MARK: Events

    /// Begins anew with a request that carries all of the content, after a redirect or a challenge. The resource of an
    /// earlier request is forgotten.
    ///
    /// - Parameter length: the content's length now, in octets: a file may have grown since.
    public mutating func create(length: Int64?) { if !isOver { (phase, self.length) = (.creating, length) } }

    /// Notes that the content has changed: all of it must be sent again.
    public mutating func changeContent() {
        acknowledged = 0
        if !isOver { phase = .creating }
    }

    /// Takes an informational response: a 104 names the resource at which the upload can be resumed (draft 05 §4.2).
    ///
    /// - Parameters:
    ///   - status: of the response.
    ///   - fields: of the response.
    ///   - url: of the request.
    ///   - read: takes a URL's text as the caller's own URL type does; nil for what that type refuses.
    /// - Returns: true if the response has named the resource.
    public mutating func inform(
        _ status: Int,
        _ fields: HTTPFields,
        to url: URIReference,
        reading read: (String) -> URIReference? = { URIReference($0) }
    ) -> Bool {
        guard status == 104, case .creating = phase, fields[UploadDraft.versionField]?.ascii == "\(draft.rawValue)",
            let resource = RedirectRule.target(of: fields, against: url, reading: read), let origin = resource.origin,
            // An upload that began over TLS is not resumed without it.
            origin.isSecure || url.origin?.isSecure != true
        else { return false }
        phase = .created(resource)
        return true
    }

    /// Takes the head of a final response that is neither a redirect to follow nor a challenge to answer.
    public mutating func receive(_ status: Int, _ fields: HTTPFields) -> UploadStep {
        switch phase {
        case .creating, .over: return finish()
        case .created(let resource): return receive(status, fields, resource)
        case .appending(let resource, let offset):
            switch status {
            case 404, 410: return again(.creating) ?? finish()
            case 409: return again(.asking(resource)) ?? finish()
            default: return receive(status, fields, resource, after: offset)
            }
        case .asking(let resource): return receiveOffset(status, fields, resource)
        }
    }

    /// Takes the response to a request with content: it is the answer unless it says that the upload is incomplete.
    /// It gives a new offset, unless the server has taken nothing beyond the old one.
    private mutating func receive(
        _ status: Int,
        _ fields: HTTPFields,
        _ resource: URIReference,
        after old: Int64 = -1
    ) -> UploadStep {
        guard (200..<300).contains(status), draft.isComplete(fields) == false else { return finish() }
        let offset = UploadDraft.offset(fields).flatMap { $0 > old ? $0 : nil }
        return goOn(resource, from: offset) ?? again(.asking(resource)) ?? finish()
    }

    private mutating func receiveOffset(_ status: Int, _ fields: HTTPFields, _ resource: URIReference) -> UploadStep {
        switch status {
        // The server has all of the content. Its answer was lost, and this response replaces it.
        case 200..<300 where draft.isComplete(fields) == true: return finish()
        case 200..<300: return goOn(resource, from: UploadDraft.offset(fields)) ?? again(.creating) ?? .fail
        // The server refuses to say how far the upload has come: its refusal is the answer.
        case 300..<400, 401, 403, 407: return finish()
        case 408, 425, 429, 500...: return again(.asking(resource)) ?? .fail
        default: return again(.creating) ?? .fail
        }
    }

    /// Handles the end of an exchange without an answer.
    ///
    /// - Parameter isTransient: whether the fault is the network's, so that another try may succeed.
    public mutating func fail(isTransient: Bool) -> UploadStep {
        guard isTransient else { return .fail }
        switch phase {
        case .creating, .over: return .fail
        case .created(let resource), .appending(let resource, _):
            return again(.asking(resource), afterFailure: true) ?? .fail
        // The server cannot be reached: this task fails, and a later one may resume the upload.
        case .asking(let resource): return isPatient ? again(.asking(resource), afterFailure: true) ?? .fail : .fail
        }
    }

    // MARK: Ways on

    private mutating func finish() -> UploadStep {
        phase = .over
        return .deliver
    }

    /// Nil for an offset that is missing, or lies beyond the content's end.
    private mutating func goOn(_ resource: URIReference, from offset: Int64?) -> UploadStep? {
        guard let offset, length.map({ offset <= $0 }) ?? true else { return nil }
        if offset > acknowledged { (acknowledged, failures, refusals) = (offset, 0, 0) }
        phase = .appending(resource, from: offset)
        return .goOn(after: .zero)
    }

    /// Nil where ``tryLimit`` is reached.
    private mutating func again(_ next: Phase, afterFailure isFailure: Bool = false) -> UploadStep? {
        let tries = failures + refusals
        guard (isPatient ? refusals : tries) < UploadMachine.tryLimit || isPatient && isFailure else { return nil }
        if isFailure { failures += 1 } else { refusals += 1 }
        if next == .creating {
            guard renewals < UploadMachine.tryLimit else { return nil }
            (renewals, acknowledged) = (renewals + 1, 0)
        }
        phase = next
        // The first new try is made at once.
        return .goOn(after: tries == 0 ? .zero : RetryRule.pause(after: tries - 1))
    }
}

/// A request of an upload that can be resumed.
public enum UploadRequest {
    /// The first request, with its own method, URL and content, and with these fields added.
    case create([(name: String, value: String)])
    /// A HEAD for the resource, with these fields: it asks how much of the upload the server has.
    case askOffset(URIReference, [(name: String, value: String)])
    /// A PATCH of the resource, with the content from the offset on, and with these fields.
    case append(URIReference, offset: Int64, [(name: String, value: String)])
}

/// The next step of an upload.
public enum UploadStep: Hashable, Sendable {
    /// The response is the answer.
    case deliver
    /// Sends ``UploadMachine/request`` after that time. The rest of the last answer need not be read.
    case goOn(after: Duration)
    /// Fails the upload. A later task may resume it at the same resource.
    case fail
}

/// A version of the draft for resumable uploads (draft-ietf-httpbis-resumable-upload), by its number in the field
/// `Upload-Draft-Interop-Version`. Client and server resume an upload only if both use the same version.
public enum UploadDraft: Int, Hashable, Sendable, CaseIterable {
    /// Draft 01: `Upload-Incomplete`.
    case three = 3
    /// Drafts 02 and 03: `Upload-Complete`, its opposite.
    case five = 5
    /// Drafts 04 and 05: also `Upload-Length`, and a media type of its own for the rest.
    case six = 6

    /// The field that names the version in use.
    static let versionField = "Upload-Draft-Interop-Version"
    /// The media type of a PATCH, from version 6 on (draft 05 §6).
    static let mediaType = "application/partial-upload"

    var versionFields: [(name: String, value: String)] { [(UploadDraft.versionField, "\(rawValue)")] }

    /// The field that says that this request's content is the last of the upload.
    var completeField: (name: String, value: String) {
        self == .three ? ("Upload-Incomplete", "?0") : ("Upload-Complete", "?1")
    }

    /// Whether an answer says that the server has all of the upload; nil if it says nothing of that.
    func isComplete(_ fields: HTTPFields) -> Bool? {
        switch self {
        case .three: UploadDraft.boolean(fields["Upload-Incomplete"]).map { !$0 }
        case .five, .six: UploadDraft.boolean(fields["Upload-Complete"])
        }
    }

    /// How many octets of the upload the server has; nil if the answer does not say.
    static func offset(_ fields: HTTPFields) -> Int64? {
        // RFC 9651 §3.3.1: at most 15 digits.
        guard let text = bare(fields["Upload-Offset"]), !text.isEmpty, text.utf8.count <= 15,
            text.utf8.allSatisfy({ $0 &- 0x30 < 10 })
        else { return nil }
        return Int64(text)
    }

    /// RFC 9651 §3.3.6.
    private static func boolean(_ value: String?) -> Bool? {
        switch bare(value)?.ascii {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// An item without its parameters (RFC 9651 §3.3).
    private static func bare(_ value: String?) -> Substring? {
        value.map { Substring($0.utf8.prefix { $0 != UInt8(ascii: ";") }.withoutBlanks) }
    }

}
