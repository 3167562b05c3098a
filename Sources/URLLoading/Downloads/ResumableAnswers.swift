internal import Foundation
internal import UncurlHTTP1
internal import UncurlSemantics

/// Facts of an answer that Uncurl needs to request parts of its content and to make resume data of them.
extension HTTPURLResponse {
    /// The validator of the content for If-Range; nil where there is none, or where parts of the content are of no use.
    package var rangeValidator: String? {
        // Decoded content has another length than the server counts.
        let coding = value(forHTTPHeaderField: "Content-Encoding")
        guard coding == nil || coding?.ascii?.lowercased() == "identity" else { return nil }
        guard statusCode == 200 || statusCode == 206 else { return nil }
        guard value(forHTTPHeaderField: "Accept-Ranges")?.ascii?.lowercased() != "none" else { return nil }
        return ResumeRule.validator(
            entityTag: sendableEntityTag,
            lastModified: value(forHTTPHeaderField: "Last-Modified"),
            date: value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.seconds($0) },
            now: UnixTime.now
        )
    }

    /// The entity tag, as resume data can hold it; nil for one that is no UTF-8, of which a text would be another tag.
    package var sendableEntityTag: String? {
        fields.octets(of: "ETag").first.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The length of the whole content in bytes, if this answer is the requested part of it; nil otherwise.
    ///
    /// - Parameters:
    ///   - validator: the content's validator; nil for the first answer.
    ///   - total: the content's length; nil for the first answer, which may be shorter than requested.
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
    /// The resume data for a later download, with the first octets of a file; nil for a request without a URL.
    package func resumeData(validator: String, path: String, received: Int64, expected: Int64) -> Data? {
        guard received > 0 else { return nil }
        let data = ResumeData(
            request: self,
            validator: validator,
            path: path,
            received: received,
            expected: expected
        )
        return data.data
    }
}
