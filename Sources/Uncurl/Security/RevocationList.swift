public import URLLoading
internal import UncurlTLS

/// Certificate revocation lists (RFC 5280 §5) that the program provides. Neither lists nor OCSP responses are
/// downloaded: a policy decides at once, with the lists that it has.
public struct RevocationList: Sendable, Hashable {
    /// The lists in DER or PEM, as the program gave them.
    public let data: Data

    /// - Parameter data: one list in DER, or any number in PEM. It is read at once.
    public init(_ data: Data) throws(TrustedCertificateError) {
        do throws(RevocationListError) { _ = try RevocationLists(Array(data)) } catch {
            throw .unreadable(nil, reason: "\(error)")
        }
        self.data = data
    }

    /// Reads the lists of a file. Blocks on the disk.
    public init(file: URL) throws(TrustedCertificateError) {
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw .unreadable(file, reason: error.localizedDescription)
        }
        do throws(TrustedCertificateError) { try self.init(data) } catch {
            if case .unreadable(_, let reason) = error { throw .unreadable(file, reason: reason) }
            throw error
        }
    }

    /// All lists in one.
    static func joined(_ lists: [RevocationList]) throws(RevocationListError) -> RevocationLists {
        if lists.count == 1 { return try RevocationLists(Array(lists[0].data)) }
        var text: [UInt8] = []
        for list in lists { text += list.pem }
        return try RevocationLists(text)
    }

    private var pem: [UInt8] {
        guard data.first == 0x30 else { return Array(data) + [UInt8(ascii: "\n")] }
        let lines = data.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN X509 CRL-----\n\(lines)\n-----END X509 CRL-----\n".utf8)
    }
}

extension RevocationList: Codable {
    public init(from decoder: any Decoder) throws { try self.init(decoder.singleValueContainer().decode(Data.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(data)
    }
}
