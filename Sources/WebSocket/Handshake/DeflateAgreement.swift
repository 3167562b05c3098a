/// What both sides have agreed on for permessage-deflate (RFC 7692 §7.1).
public struct DeflateAgreement: Hashable, Sendable {
    /// No message of the server refers to one before.
    public var serverForgets = false
    /// The same of the client.
    public var clientForgets = false
    /// How far back the server refers, as a power of two: 8 to 15. It is not held to it: what refers farther back is
    /// read all the same.
    public var serverWindowBits = 15
    /// Base-2 logarithm of the window of the client's messages, 8 to 15 (RFC 7692 §7.1.2.2).
    public var clientWindowBits = 15

    /// The values that the properties begin with.
    public init() {}

    static let name = "permessage-deflate"

    /// Reads what a server answers (§7.1.1, §7.1.2). Nil: a parameter that it does not know, or twice, or out of its
    /// range; the client fails the connection then (§7.1).
    init?(response: ExtensionList.Element, to offer: DeflateOffer) {
        for parameter in response.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil) where !serverForgets: serverForgets = true
            case ("client_no_context_takeover", nil) where !clientForgets: clientForgets = true
            case ("server_max_window_bits", let value?):
                guard let bits = DeflateAgreement.windowBits(value) else { return nil }
                serverWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard let bits = DeflateAgreement.windowBits(value) else { return nil }
                clientWindowBits = bits
            default: return nil
            }
        }
        let names = response.parameters.map(\.name)
        guard Set(names).count == names.count else { return nil }
        // §7.1.1.1, §7.1.2.1: what was asked for, an answer must grant.
        guard serverForgets || !offer.serverForgets else { return nil }
        guard serverWindowBits <= offer.serverWindowBits ?? 15 else { return nil }
        if offer.clientForgets { clientForgets = true }
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

/// What a client offers: permessage-deflate with these wishes.
public struct DeflateOffer: Hashable, Sendable {
    /// Asks the server to keep nothing between messages: smaller windows for it, larger messages for us.
    public var serverForgets = false
    /// Says that we shall not.
    public var clientForgets = false
    /// Asks the server to refer back no further; 8 to 15.
    public var serverWindowBits: Int?

    /// The values that the properties begin with.
    public init() {}

    /// With `client_max_window_bits`: the server may bound our window, too (§7.1.2.2).
    var text: String {
        var text = "\(DeflateAgreement.name); client_max_window_bits"
        if serverForgets { text += "; server_no_context_takeover" }
        if clientForgets { text += "; client_no_context_takeover" }
        if let serverWindowBits { text += "; server_max_window_bits=\(min(max(serverWindowBits, 8), 15))" }
        return text
    }
}

extension DeflateAgreement {
    /// What a server makes of one of a client's offers; nil if it cannot keep to it (§7.1).
    init?(accepting offer: ExtensionList.Element) {
        for parameter in offer.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): serverForgets = true
            case ("client_no_context_takeover", nil): clientForgets = true
            case ("client_max_window_bits", nil): break
            case ("client_max_window_bits", let value?):
                guard let bits = DeflateAgreement.windowBits(value) else { return nil }
                clientWindowBits = bits
            case ("server_max_window_bits", let value?):
                // 8: zlib's smallest window refers twice as far.
                guard let bits = DeflateAgreement.windowBits(value), bits > 8 else { return nil }
                serverWindowBits = bits
            default: return nil
            }
        }
        let names = offer.parameters.map(\.name)
        guard Set(names).count == names.count else { return nil }
    }
}
