internal import Foundation

/// What a download can go on from: its URL, what is on disk, and the validator by which the server knows whether its
/// content is still the same. Kept as a property list under the names that URLSession gave its own.
struct ResumeData: Sendable {
    /// What is known of the file's octets.
    enum Sum: Sendable {
        case none
        /// What was written down, perhaps of more than is gone on from: to be held against the file.
        case stated(ContentSum)
        /// Of the octets that are gone on from, as they are.
        case known(ContentSum)
    }

    /// After redirects: what is resumed is the content that was being sent, not what the first URL may lead to by now.
    var url: URL
    var fields: [String: String]
    /// A strong entity tag, or else the date of the last change (RFC 9110 §13.1.5).
    var validator: String
    var path: String
    var received: Int64
    /// Of the whole; -1 where it was not known.
    var expected: Int64
    var sum = Sum.none

    private enum Key {
        static let version = "NSURLSessionResumeInfoVersion"
        static let url = "NSURLSessionDownloadURL"
        static let fields = "NSURLSessionResumeRequestFields"
        static let validator = "NSURLSessionResumeEntityTag"
        static let path = "NSURLSessionResumeInfoLocalPath"
        static let received = "NSURLSessionResumeBytesReceived"
        static let expected = "NSURLSessionResumeBytesExpected"
        /// Of background downloads: the CRC-32 of what was received.
        static let checksum = "URLLoadingResumeChecksum"
    }

    private static let version = 1

    init(
        url: URL,
        fields: [String: String],
        validator: String,
        path: String,
        received: Int64,
        expected: Int64,
        sum: Sum = .none
    ) {
        self.url = url
        self.fields = fields
        self.validator = validator
        self.path = path
        self.received = received
        self.expected = expected
        self.sum = sum
    }

    /// Nil for what was not written here, or has been changed.
    init?(_ data: Data) {
        guard let list = try? unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            list[Key.version] as? Int == ResumeData.version,
            let url = (list[Key.url] as? String).flatMap({ URL(string: $0) }),
            let validator = list[Key.validator] as? String,
            let path = list[Key.path] as? String,
            let received = list[Key.received] as? Int, received > 0
        else { return nil }
        self.url = url
        self.validator = validator
        self.path = path
        self.received = Int64(received)
        fields = list[Key.fields] as? [String: String] ?? [:]
        expected = (list[Key.expected] as? Int).map { Int64($0) } ?? -1
        if let checksum = (list[Key.checksum] as? Int).flatMap({ UInt32(exactly: $0) }) {
            sum = .stated(ContentSum(length: self.received, checksum: checksum))
        }
    }

    var data: Data? {
        var list: [String: Any] = [
            Key.version: ResumeData.version, Key.url: url.absoluteString, Key.fields: fields, Key.validator: validator,
            Key.path: path, Key.received: Int(received), Key.expected: Int(expected),
        ]
        if case .known(let sum) = sum { list[Key.checksum] = Int(sum.checksum) }
        return try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    }

    /// Where the file may be whole already, its last byte is asked for again: a request for nothing cannot be written,
    /// and a server that answers 416 would not say to which content. Nil if the file has that one byte alone.
    var askable: ResumeData? {
        guard expected < 0 || received >= expected else { return self }
        var asked = self
        asked.received -= 1
        if case .known(let sum) = sum { asked.sum = .stated(sum) }
        return asked.received > 0 ? asked : nil
    }

    /// Whether the file must be read before it is gone on with.
    ///
    /// - Parameter isSummed: the sum of what is in the file is to be known, and so of what is in it already.
    func isUnread(isSummed: Bool) -> Bool {
        switch sum {
        case .none: isSummed
        case .stated: true
        case .known: false
        }
    }

    /// Reads the file: nil if it is not as it was written. Blocks for the disk.
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
