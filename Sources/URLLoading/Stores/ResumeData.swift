internal import Foundation
internal import UncurlClient
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

/// The data that a download resumes from: its request, its file, and the validator that tells the server whether the
/// content is still the same. It is a ``StoreRecord``. A property list with URLSession's keys, as other libraries write
/// it, is read too.
struct ResumeData: Sendable {
    /// What is known of the file's content.
    enum Sum: Sendable {
        case none
        /// A recorded sum, which may cover more than is used. It must be compared with the file.
        case stated(ContentSum)
        /// The verified sum of the octets that are used.
        case known(ContentSum)
    }

    /// The request after redirects: the download resumes the content that was being sent, and the first URL may lead
    /// elsewhere by now.
    var request: URLRequest
    /// A strong entity tag, or else the date of the last change (RFC 9110 §13.1.5).
    var validator: String
    var path: String
    var received: Int64
    /// The length of the whole content; -1 where it was unknown.
    var expected: Int64
    var sum = Sum.none
}

extension ResumeData {
    /// Nil for data that no library has written so, or that was changed.
    init?(_ data: Data) {
        guard let read = StoreRecord.value(of: Array(data), .download) ?? ResumeData(apple: data),
            read.request.url != nil, read.request.httpMethod == "GET", read.received > 0
        else { return nil }
        self = read
    }

    /// Nil for a request without a URL.
    var data: Data? { request.url.flatMap { _ in StoreRecord.file(.download, of: self) }.map { Data($0) } }

    /// Reads the property list of another library.
    private init?(apple data: Data) {
        guard let list = data.xmlPropertyList, list["NSURLSessionResumeInfoVersion"] as? Int == 1,
            let url = (list["NSURLSessionDownloadURL"] as? String).flatMap({ URL(string: $0) }),
            let validator = list["NSURLSessionResumeEntityTag"] as? String,
            let path = list["NSURLSessionResumeInfoLocalPath"] as? String,
            let received = list["NSURLSessionResumeBytesReceived"] as? Int
        else { return nil }
        let expected = (list["NSURLSessionResumeBytesExpected"] as? Int).map { Int64($0) } ?? -1
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = list["NSURLSessionResumeRequestFields"] as? [String: String]
        self.init(request: request, validator: validator, path: path, received: Int64(received), expected: expected)
    }

    /// Whether the file is a part that a session has made. No other file is read into a download, or deleted: then the
    /// download starts over.
    ///
    /// - Parameter state: the state directory of background sessions; nil for the program's own.
    func hasPart(of state: String?) -> Bool { StoreFile.isPart(path, of: state) }

    /// The data for a request. If the file may be complete, its last byte is requested again: a request for an empty
    /// range is not possible, and an answer of 416 would not identify the content. Nil if the file has only that byte.
    var askable: ResumeData? {
        guard expected < 0 || received >= expected else { return self }
        var asked = self
        asked.received -= 1
        if case .known(let sum) = sum { asked.sum = .stated(sum) }
        return asked.received > 0 ? asked : nil
    }

    /// Whether the file must be read before the download resumes.
    ///
    /// - Parameter isSummed: whether the sum of the content is needed, and so the sum of what the file has already.
    func isUnread(isSummed: Bool) -> Bool {
        switch sum {
        case .none: isSummed
        case .stated: true
        case .known: false
        }
    }

    /// Returns the data with a verified sum; nil if the file has changed. Blocks on the disk.
    func verified() throws(Errno) -> ResumeData? {
        var read = self
        switch sum {
        case .known: break
        case .none:
            guard let sum = try ContentSum(ofFirst: received, in: path) else { return nil }
            read.sum = .known(sum)
        case .stated(let stated):
            let sums = try ContentSum.sums(ofFirst: [min(received, stated.length), stated.length], in: path)
            guard stated.length >= received, sums.last == stated, let first = sums.first else { return nil }
            read.sum = .known(first)
        }
        return read
    }

    /// Why a download cannot resume now, though its file may be as it was.
    static func unreadable(_ reason: Errno, _ url: URL?) -> URLError {
        URLError(.cannotOpenFile, url, "the file of the download to resume", reason)
    }
}

extension ResumeData: Kept {
    static func keep(_ data: ResumeData?, in record: inout StoreRecord) throws(Errno) -> ResumeData {
        var kept = ResumeData(
            request: try record.row(data?.request.forResumption),
            validator: try record.row(data?.validator),
            path: try record.row(data?.path),
            received: try record.row(data?.received),
            expected: try record.row(data?.expected)
        )
        var known: UInt32?
        if case .known(let sum)? = data?.sum { known = sum.checksum }
        // Only the sum of a background download's content is kept.
        if let checksum = try record.row(optional: known) {
            kept.sum = .stated(ContentSum(length: kept.received, checksum: checksum))
        }
        return kept
    }
}

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
            date: value(forHTTPHeaderField: "Date")?.httpDate,
            now: unixTime()
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
        return ResumeData(request: self, validator: validator, path: path, received: received, expected: expected).data
    }
}
