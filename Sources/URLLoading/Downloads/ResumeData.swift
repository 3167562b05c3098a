internal import Foundation
internal import UncurlReactor

/// The data that a download resumes from: its request, its file, and the validator that tells the server whether the
/// content is still the same. It is a property list with URLSession's keys and a checksum.
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

    private enum Key {
        static let version = "NSURLSessionResumeInfoVersion"
        static let url = "NSURLSessionDownloadURL"
        static let request = "URLLoadingResumeRequest"
        /// The key of the request's fields in data without a request.
        static let fields = "NSURLSessionResumeRequestFields"
        static let validator = "NSURLSessionResumeEntityTag"
        static let path = "NSURLSessionResumeInfoLocalPath"
        static let received = "NSURLSessionResumeBytesReceived"
        static let expected = "NSURLSessionResumeBytesExpected"
        /// The key of the CRC-32 of the received octets, for background downloads.
        static let checksum = "URLLoadingResumeChecksum"
        /// The key of ``URLRequest/hasLeftOrigin``; absent if it is false.
        static let hasLeftOrigin = "URLLoadingResumeHasLeftOrigin"
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
        guard let list = XMLPropertyList.readSealed(data),
            list[Key.version] as? Int == ResumeData.version,
            let url = (list[Key.url] as? String).flatMap({ URL(string: $0) }),
            let validator = list[Key.validator] as? String,
            let path = list[Key.path] as? String,
            let received = list[Key.received] as? Int, received > 0
        else { return nil }
        if let octets = list[Key.request] {
            guard let octets = octets as? Data, let values = OctetReader.request(octets), values.httpMethod == "GET"
            else { return nil }
            request = URLRequest(storage: RequestStorage(values))
            request.url = url
        } else {
            request = URLRequest(url: url)
            request.allHTTPHeaderFields = list[Key.fields] as? [String: String]
        }
        request.values.hasLeftOrigin = list[Key.hasLeftOrigin] as? Bool == true
        self.validator = validator
        self.path = path
        self.received = Int64(received)
        expected = (list[Key.expected] as? Int).map { Int64($0) } ?? -1
        if let checksum = (list[Key.checksum] as? Int).flatMap({ UInt32(exactly: $0) }) {
            sum = .stated(ContentSum(length: self.received, checksum: checksum))
        }
    }

    var data: Data? {
        guard let url = request.url else { return nil }
        var list: [String: Any] = [
            Key.version: ResumeData.version, Key.url: url.absoluteString,
            Key.request: Data(OctetWriter.octets(of: request)), Key.validator: validator, Key.path: path,
            Key.received: Int(received), Key.expected: Int(expected),
        ]
        if case .known(let sum) = sum { list[Key.checksum] = Int(sum.checksum) }
        if request.hasLeftOrigin { list[Key.hasLeftOrigin] = true }
        return XMLPropertyList.sealed(list)
    }

    /// Whether the file is a part that a session has made. No other file is read into a download, or deleted: then the
    /// download starts over.
    ///
    /// - Parameter state: the state directory of background sessions; nil for the program's own.
    func hasPart(of state: String?) -> Bool { DownloadParts.isPart(path, of: state) }

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
        ErrorTranslation.fileError(.cannotOpenFile, url, "the file of the download to resume", reason)
    }
}
