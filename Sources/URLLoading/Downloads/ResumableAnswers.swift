internal import Foundation
internal import HTTPSemantics

/// What the room above needs to ask for parts of one content, and to leave resume data of them.
extension HTTPURLResponse {
    /// By what to know this content again, as If-Range has it; nil where nothing does, or where parts of it are of no
    /// use.
    package var rangeValidator: String? {
        // What was decoded is of another length than what the server counts.
        let coding = value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        guard coding == nil || coding == "identity" else { return nil }
        guard statusCode == 200 || statusCode == 206 else { return nil }
        guard value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none" else { return nil }
        return ResumeRule.validator(
            entityTag: value(forHTTPHeaderField: "ETag"),
            lastModified: value(forHTTPHeaderField: "Last-Modified"),
            date: value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.seconds($0) },
            now: UnixTime.now
        )
    }

    /// The length of the whole content, in bytes, if this is the part of it that was asked for; nil if it is not.
    ///
    /// - Parameters:
    ///   - validator: the content's; nil: this is the first answer.
    ///   - total: the content's length; nil: this is the first answer, which may be shorter than what was asked for.
    package func wholeLength(ofPart first: Int64, _ last: Int64, _ validator: String?, _ total: Int64?) -> Int64? {
        ResumeRule.wholeLength(
            ofPart: first...last,
            status: statusCode,
            contentRange: value(forHTTPHeaderField: "Content-Range"),
            entityTag: value(forHTTPHeaderField: "ETag"),
            lastModified: value(forHTTPHeaderField: "Last-Modified"),
            validator: validator,
            total: total
        )
    }
}

extension URLRequest {
    /// What a later download goes on from, with the first octets of a file; nil for a request without a URL.
    package func resumeData(validator: String, path: String, received: Int64, expected: Int64) -> Data? {
        guard let url, received > 0 else { return nil }
        let fields = allHTTPHeaderFields ?? [:]
        let data = ResumeData(
            url: url,
            fields: fields,
            validator: validator,
            path: path,
            received: received,
            expected: expected
        )
        return data.data
    }
}
