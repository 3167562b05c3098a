internal import UncurlHTTP1
import UncurlText

/// A client's side of the opening handshake (RFC 6455 §4.1): the fields of one request, and the check of its answer.
///
/// It serves one request. Another request, after a redirect or a challenge, needs another handshake, since a key is
/// used once.
public struct ClientHandshake: Sendable {
    /// The fields to send beside Connection and Upgrade, in their order.
    public let fields: [(name: String, value: String)]
    private let key: String
    private let protocols: [String]
    private let offer: DeflateOffer?

    /// - Parameters:
    ///   - protocols: subprotocols, the preferred first.
    ///   - deflate: nil to offer no compression.
    public init(protocols: [String] = [], deflate: DeflateOffer? = DeflateOffer()) throws(HandshakeError) {
        // §4.1: sixteen octets, chosen at random.
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next() as UInt64) }
        try self.init(key: Base64.encode(nonce), protocols, deflate)
    }

    init(key: String, _ protocols: [String], _ deflate: DeflateOffer?) throws(HandshakeError) {
        for (index, name) in protocols.enumerated() {
            guard name.isToken, !protocols[..<index].contains(name) else { throw .invalidProtocol(name) }
        }
        self.key = key
        self.protocols = protocols
        offer = deflate
        var fields = [(Agreement.Field.version, "13"), (Agreement.Field.key, key)]
        if !protocols.isEmpty { fields.append((Agreement.Field.subprotocol, protocols.joined(separator: ", "))) }
        if let deflate { fields.append((Agreement.Field.extensions, deflate.text)) }
        self.fields = fields
    }

    /// Checks a 101 by the rules of §4.1, in their order. Its Connection and Upgrade were checked before.
    ///
    /// - Parameter values: all values of the answer's fields of a name, whatever its case.
    public func check(_ values: (String) -> [String]) throws(HandshakeError) -> Agreement {
        guard HeaderText.areOnly(Agreement.acceptance(of: key), values(Agreement.Field.accept)) else {
            throw .wrongAccept
        }
        var agreement = Agreement()
        let extensions = values(Agreement.Field.extensions).joined(separator: ", ")
        agreement.deflate = try deflate(extensions)
        let chosen = values(Agreement.Field.subprotocol)
        if let first = chosen.first {
            let name = HeaderText.trimmed(first)
            guard chosen.count == 1, name.isToken, protocols.contains(name) else {
                throw .unofferedProtocol(chosen.joined(separator: ", "))
            }
            agreement.subprotocol = name
        }
        return agreement
    }

    private func deflate(_ text: String) throws(HandshakeError) -> DeflateAgreement? {
        guard let list = ExtensionList(text) else { throw .unacceptableExtension(text) }
        guard let element = list.elements.first else { return nil }
        guard list.elements.count == 1, let offer, element.name == DeflateAgreement.name,
            let agreement = DeflateAgreement(response: element, to: offer)
        else { throw .unacceptableExtension(text) }
        return agreement
    }
}
