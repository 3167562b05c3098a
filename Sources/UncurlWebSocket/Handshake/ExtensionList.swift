/// The value of a Sec-WebSocket-Extensions field (RFC 6455 §9.1).
struct ExtensionList {
    struct Element: Equatable {
        var name: String
        /// In their order. A parameter without a value has nil.
        var parameters: [(name: String, value: String?)]

        static func == (left: Element, right: Element) -> Bool {
            left.name == right.name
                && left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value == $1.value }
        }
    }

    var elements: [Element] = []

    /// Nil for text that is no such list. Empty elements are skipped, as in any list of HTTP (RFC 9110 §5.6.1.2).
    init?(_ text: String) {
        var reader = Reader(text)
        while true {
            reader.skipBlanks()
            if reader.take(UInt8(ascii: ",")) { continue }
            if reader.isAtEnd { return }
            guard let element = reader.element() else { return nil }
            elements.append(element)
            guard reader.isAtEnd || reader.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private struct Reader {
        private let octets: [UInt8]
        private var position = 0

        init(_ text: String) { octets = Array(text.utf8) }

        var isAtEnd: Bool { position == octets.count }

        mutating func skipBlanks() {
            while position < octets.count, octets[position] == 0x20 || octets[position] == 0x09 { position += 1 }
        }

        mutating func take(_ octet: UInt8) -> Bool {
            guard position < octets.count, octets[position] == octet else { return false }
            position += 1
            return true
        }

        /// extension = extension-token *( ";" extension-param ); extension-param = token [ "=" (token | quoted-string)
        /// ]
        mutating func element() -> Element? {
            guard let name = token() else { return nil }
            var element = Element(name: name, parameters: [])
            skipBlanks()
            while take(UInt8(ascii: ";")) {
                skipBlanks()
                guard let name = token() else { return nil }
                skipBlanks()
                var value: String?
                if take(UInt8(ascii: "=")) {
                    skipBlanks()
                    guard let found = take(UInt8(ascii: "\"")) ? quoted() : token() else { return nil }
                    value = found
                    skipBlanks()
                }
                element.parameters.append((name, value))
            }
            return element
        }

        private mutating func token() -> String? {
            let start = position
            while position < octets.count, HeaderText.isTokenOctet(octets[position]) { position += 1 }
            return position > start ? String(decoding: octets[start..<position], as: UTF8.self) : nil
        }

        /// The value without its quotes and backslashes must be a token.
        private mutating func quoted() -> String? {
            var value: [UInt8] = []
            while position < octets.count {
                var octet = octets[position]
                position += 1
                if octet == UInt8(ascii: "\"") {
                    return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
                }
                if octet == UInt8(ascii: "\\") {
                    guard position < octets.count else { return nil }
                    octet = octets[position]
                    position += 1
                }
                guard HeaderText.isTokenOctet(octet) else { return nil }
                value.append(octet)
            }
            return nil
        }
    }
}
