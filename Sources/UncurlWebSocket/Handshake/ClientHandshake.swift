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
        try self.init(key: base64Text(nonce), protocols, deflate)
    }

    init(key: String, _ protocols: [String], _ deflate: DeflateOffer?) throws(HandshakeError) {
        for (index, name) in protocols.enumerated() {
            guard name.isToken, !protocols[..<index].contains(name) else { throw .invalidProtocol(name) }
        }
        self.key = key
        self.protocols = protocols
        offer = deflate
        var fields = [(Agreement.versionField, "13"), (Agreement.keyField, key)]
        if !protocols.isEmpty { fields.append((Agreement.subprotocolField, protocols.joined(separator: ", "))) }
        if let deflate { fields.append((Agreement.extensionsField, deflate.text)) }
        self.fields = fields
    }

    /// Checks a 101 by the rules of §4.1, in their order. Its Connection and Upgrade were checked before.
    ///
    /// - Parameter values: all values of the answer's fields of a name, whatever its case.
    public func check(_ values: (String) -> [String]) throws(HandshakeError) -> Agreement {
        guard Agreement.areOnly(Agreement.acceptance(of: key), values(Agreement.acceptField)) else {
            throw .wrongAccept
        }
        var agreement = Agreement()
        let extensions = values(Agreement.extensionsField).joined(separator: ", ")
        agreement.deflate = try deflate(extensions)
        let chosen = values(Agreement.subprotocolField)
        if let first = chosen.first {
            let name = Agreement.trimmed(first)
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

/// The reason why an opening handshake has failed (RFC 6455 §4).
public enum HandshakeError: Error, Hashable, Sendable {
    /// A fault of the client's request: a subprotocol is no token, or is named twice.
    case invalidProtocol(String)
    /// The server's proof that it read the request is missing, repeated or wrong (§4.2.2).
    case wrongAccept
    /// The server has chosen a subprotocol that was not offered, or several.
    case unofferedProtocol(String)
    /// The server has chosen an extension, or a parameter of one, that was not offered.
    case unacceptableExtension(String)
    /// The client's version is not 13 (§4.4), or it has sent no key of 16 octets.
    case notAskedFor
}

extension HandshakeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidProtocol(let name): "“\(name)” is no subprotocol, or stands there twice"
        case .wrongAccept: "Sec-WebSocket-Accept does not answer the request's key"
        case .unofferedProtocol(let names): "the server chose the subprotocol “\(names)”, which was not offered"
        case .unacceptableExtension(let text): "the server chose the extension “\(text)”, which was not offered"
        case .notAskedFor: "the request asks for no WebSocket of version 13"
        }
    }
}
