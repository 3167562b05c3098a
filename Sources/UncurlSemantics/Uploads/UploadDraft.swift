internal import UncurlHTTP1

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
