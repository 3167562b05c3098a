internal import UncurlHTTP1

/// The parameters that both sides have agreed on for permessage-deflate (RFC 7692 §7.1).
public struct DeflateAgreement: Hashable, Sendable {
    /// Whether the server's messages do not refer to earlier ones.
    public var serverForgets = false
    /// Whether the client's messages do not refer to earlier ones.
    public var clientForgets = false
    /// How far back the server's messages refer, as a power of two from 8 to 15. This is not enforced: a reference
    /// farther back is read too.
    public var serverWindowBits = 15
    /// Base-2 logarithm of the window of the client's messages, 8 to 15 (RFC 7692 §7.1.2.2).
    public var clientWindowBits = 15

    /// The values that the properties begin with.
    public init() {}

    static let name = "permessage-deflate"

    /// Reads a server's answer (§7.1.1, §7.1.2). Nil if a parameter is unknown, repeated, or out of its range: then the
    /// client fails the connection (§7.1).
    init?(response: Element, to offer: DeflateOffer) {
        guard read(response, isOffer: false) else { return nil }
        // §7.1.1.1, §7.1.2.1: an answer must grant what the offer has asked for.
        guard serverForgets || !offer.serverForgets else { return nil }
        guard serverWindowBits <= offer.serverWindowBits ?? 15 else { return nil }
        if offer.clientForgets { clientForgets = true }
    }

    /// Returns a server's answer to one of a client's offers; nil if the server cannot fulfil the offer (§7.1).
    init?(accepting offer: Element) {
        if !read(offer, isOffer: true) { return nil }
    }

    private mutating func read(_ element: Element, isOffer: Bool) -> Bool {
        for parameter in element.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): serverForgets = true
            case ("client_no_context_takeover", nil): clientForgets = true
            case ("client_max_window_bits", nil) where isOffer: break
            case ("client_max_window_bits", let value?):
                guard let bits = DeflateAgreement.windowBits(value) else { return false }
                clientWindowBits = bits
            case ("server_max_window_bits", let value?):
                // A server cannot grant a window of 8 bits: zlib's smallest has 9.
                guard let bits = DeflateAgreement.windowBits(value), bits > 8 || !isOffer else { return false }
                serverWindowBits = bits
            default: return false
            }
        }
        return Set(element.parameters.map(\.name)).count == element.parameters.count
    }

    /// §7.1.2: 8 to 15, in decimal without leading zeros.
    static func windowBits(_ text: String) -> Int? {
        guard !text.hasPrefix("0"), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(text),
            (8...15).contains(bits)
        else { return nil }
        return bits
    }

    /// A server's answer.
    var response: String {
        var text = DeflateAgreement.name
        if serverForgets { text += "; server_no_context_takeover" }
        if clientForgets { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientWindowBits < 15 { text += "; client_max_window_bits=\(clientWindowBits)" }
        return text
    }
}

/// A client's offer of permessage-deflate.
public struct DeflateOffer: Hashable, Sendable {
    /// Whether to ask the server to keep no context between messages. That saves its memory, and makes its messages
    /// longer.
    public var serverForgets = false
    /// Whether to announce that the client keeps no context between messages.
    public var clientForgets = false
    /// The window that the server is asked for, as a power of two from 8 to 15; nil to leave it to the server.
    public var serverWindowBits: Int?

    /// The values that the properties begin with.
    public init() {}

    /// `client_max_window_bits` lets the server limit the client's window too (§7.1.2.2).
    var text: String {
        var text = "\(DeflateAgreement.name); client_max_window_bits"
        if serverForgets { text += "; server_no_context_takeover" }
        if clientForgets { text += "; client_no_context_takeover" }
        if let serverWindowBits { text += "; server_max_window_bits=\(min(max(serverWindowBits, 8), 15))" }
        return text
    }
}

/// The value of a Sec-WebSocket-Extensions field (RFC 6455 §9.1).
extension DeflateAgreement {
    /// An extension, and its parameters in their order; one without a value has nil.
    typealias Element = (name: String, parameters: [(name: String, value: String?)])

    /// Nil for text that is no such list. Empty elements are skipped, as in any list of HTTP (RFC 9110 §5.6.1.2).
    static func elements(_ text: String) -> [Element]? {
        var elements: [Element] = []
        var reader = FieldReader(text.utf8)
        while true {
            reader.skipBlanks()
            if reader.take(UInt8(ascii: ",")) { continue }
            if reader.isAtEnd { return elements }
            guard let element = Self.element(&reader) else { return nil }
            elements.append(element)
            guard reader.isAtEnd || reader.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    /// extension = extension-token *( ";" extension-param ); extension-param = token [ "=" (token | quoted-string) ]
    private static func element(_ reader: inout FieldReader) -> Element? {
        guard let name = reader.token() else { return nil }
        var element: Element = (text(name), [])
        reader.skipBlanks()
        while reader.take(UInt8(ascii: ";")) {
            reader.skipBlanks()
            guard let name = reader.token() else { return nil }
            reader.skipBlanks()
            var value: String?
            if reader.take(UInt8(ascii: "=")) {
                reader.skipBlanks()
                guard let found = self.value(&reader) else { return nil }
                value = found
                reader.skipBlanks()
            }
            element.parameters.append((text(name), value))
        }
        return element
    }

    /// The value without its quotes and backslashes must be a token.
    private static func value(_ reader: inout FieldReader) -> String? {
        guard reader.next == UInt8(ascii: "\"") else { return reader.token().map { text($0) } }
        guard let quoted = reader.quotedString(), quoted.isWhole, !quoted.text.isEmpty,
            quoted.text.allSatisfy(\.isTokenOctet)
        else { return nil }
        return text(quoted.text[...])
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }
}
