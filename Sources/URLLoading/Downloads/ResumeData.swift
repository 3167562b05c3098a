internal import Foundation

/// The data that a download resumes from: its request, its file, and the validator that tells the server whether the
/// content is still the same. It is a property list with URLSession's keys.
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

    /// The property list.
    private struct List: Codable {
        private enum CodingKeys: String, CodingKey {
            case version = "NSURLSessionResumeInfoVersion"
            case url = "NSURLSessionDownloadURL"
            case request = "URLLoadingResumeRequest"
            case fields = "NSURLSessionResumeRequestFields"
            case validator = "NSURLSessionResumeEntityTag"
            case path = "NSURLSessionResumeInfoLocalPath"
            case received = "NSURLSessionResumeBytesReceived"
            case expected = "NSURLSessionResumeBytesExpected"
            case checksum = "URLLoadingResumeChecksum"
        }

        let version: Int
        let url: String
        var request: Data?
        /// The request's fields in data without a request, as it was written earlier.
        var fields: [String: String]?
        let validator: String
        let path: String
        let received: Int64
        var expected: Int64?
        /// The CRC-32 of the received octets, for background downloads.
        var checksum: UInt32?
    }

    private static let version = 1

    init(
        request: URLRequest,
        validator: String,
        path: String,
        received: Int64,
        expected: Int64,
        sum: Sum = .none
    ) {
        self.request = request
        self.validator = validator
        self.path = path
        self.received = received
        self.expected = expected
        self.sum = sum
    }

    /// Nil for data that this module has not written, or that was changed.
    init?(_ data: Data) {
        guard let list = XMLPropertyList.decode(List.self, from: data),
            list.version == ResumeData.version, let url = URL(string: list.url), list.received > 0
        else { return nil }
        if let octets = list.request {
            guard let values = OctetReader.request(octets), values.httpMethod == "GET" else { return nil }
            request = URLRequest(storage: RequestStorage(values))
            request.url = url
        } else {
            request = URLRequest(url: url)
            request.allHTTPHeaderFields = list.fields
        }
        validator = list.validator
        path = list.path
        received = list.received
        expected = list.expected ?? -1
        if let checksum = list.checksum { sum = .stated(ContentSum(length: received, checksum: checksum)) }
    }

    var data: Data? {
        guard let url = request.url else { return nil }
        var list = List(
            version: ResumeData.version,
            url: url.absoluteString,
            request: Data(OctetWriter.octets(of: request)),
            validator: validator,
            path: path,
            received: received,
            expected: expected
        )
        if case .known(let sum) = sum { list.checksum = sum.checksum }
        return XMLPropertyList.encode(list)
    }

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

    /// The data with a verified sum; nil if the file has changed. Blocks on the disk.
    var read: ResumeData? {
        var read = self
        switch sum {
        case .known: break
        case .none:
            guard let sum = ContentSum(ofFirst: received, in: path) else { return nil }
            read.sum = .known(sum)
        case .stated(let stated):
            let sums = ContentSum.sums(ofFirst: [min(received, stated.length), stated.length], in: path)
            guard stated.length >= received, sums.last == stated, let first = sums.first else { return nil }
            read.sum = .known(first)
        }
        return read
    }
}
