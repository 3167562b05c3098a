internal import UncurlHTTP1

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
        var reader = FieldReader(text.utf8)
        while true {
            reader.skipBlanks()
            if reader.take(UInt8(ascii: ",")) { continue }
            if reader.isAtEnd { return }
            guard let element = Self.element(&reader) else { return nil }
            elements.append(element)
            guard reader.isAtEnd || reader.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    /// extension = extension-token *( ";" extension-param ); extension-param = token [ "=" (token | quoted-string) ]
    private static func element(_ reader: inout FieldReader) -> Element? {
        guard let name = reader.token() else { return nil }
        var element = Element(name: text(name), parameters: [])
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
