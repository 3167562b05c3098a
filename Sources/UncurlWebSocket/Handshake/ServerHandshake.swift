internal import UncurlHTTP1

/// A server's side of the opening handshake (RFC 6455 §4.2): its answer to a request's fields.
public struct ServerHandshake: Sendable {
    /// The fields of the 101 beside Connection and Upgrade, in their order.
    public let fields: [(name: String, value: String)]
    /// The agreement in the answer.
    public let agreement: Agreement

    /// The version that a server names to clients with another version (§4.4).
    public static let version = (name: Agreement.versionField, value: "13")

    /// Accepts the first acceptable offer of compression, and the first of the client's subprotocols for which `spoken`
    /// returns true.
    ///
    /// - Parameters:
    ///   - values: all values of the request's fields of a name, whatever its case.
    ///   - deflates: whether the server agrees to permessage-deflate (RFC 7692).
    ///   - spoken: whether the server speaks a subprotocol.
    public init(
        _ values: (String) -> [String],
        deflates: Bool,
        speaking spoken: (String) -> Bool
    ) throws(HandshakeError) {
        let keys = values(Agreement.keyField).map { Agreement.trimmed($0) }
        guard Agreement.areOnly("13", values(Agreement.versionField)), keys.count == 1,
            ServerHandshake.isNonce(keys[0])
        else { throw .notAskedFor }
        var fields = [(Agreement.acceptField, Agreement.acceptance(of: keys[0]))]
        var agreement = Agreement()
        agreement.subprotocol = Agreement.list(values(Agreement.subprotocolField)).first {
            $0.isToken && spoken($0)
        }
        if let subprotocol = agreement.subprotocol { fields.append((Agreement.subprotocolField, subprotocol)) }
        if deflates,
            let offers = DeflateAgreement.elements(values(Agreement.extensionsField).joined(separator: ", "))
        {
            agreement.deflate =
                offers.lazy.filter { $0.name == DeflateAgreement.name }.compactMap { DeflateAgreement(accepting: $0) }
                .first
        }
        if let deflate = agreement.deflate { fields.append((Agreement.extensionsField, deflate.response)) }
        self.fields = fields
        self.agreement = agreement
    }

    /// The base64 of sixteen octets.
    private static func isNonce(_ key: String) -> Bool {
        let octets = Array(key.utf8)
        guard octets.count == 24, octets[22] == UInt8(ascii: "="), octets[23] == UInt8(ascii: "=") else { return false }
        return octets[..<22].allSatisfy {
            $0.isTokenOctet && !"!#$%&'*-.^_`|~".utf8.contains($0) || $0 == UInt8(ascii: "/")
        }
    }
}
