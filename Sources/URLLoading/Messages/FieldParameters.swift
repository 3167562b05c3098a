/// A field value with parameters: `text/html; charset="utf-8"` (RFC 9110 §5.6.6).
///
/// It is read as servers write it: blanks are allowed around the equals sign, a quoted string that never ends takes the
/// rest, and text that is no parameter is skipped. Of several parameters of one name the first counts.
struct FieldParameters {
    /// The text before the first semicolon, without blanks at its ends.
    let value: String
    private var parameters: [(name: String, value: String)] = []

    init(_ field: String) {
        var rest = Substring(field).utf8
        value = Self.trimmed(Self.take(&rest) { $0 == UInt8(ascii: ";") })
        while !rest.isEmpty {
            rest = rest.dropFirst()
            let name = Self.trimmed(Self.take(&rest) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") })
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop(while: Self.isBlank)
            if rest.first == UInt8(ascii: "\"") {
                parameters.append((name, Self.takeQuoted(&rest)))
                _ = Self.take(&rest) { $0 == UInt8(ascii: ";") }
            } else {
                parameters.append((name, Self.takeUnquoted(&rest)))
            }
        }
    }

    /// Reads Content-Type. Of several types, which a proxy may have joined with commas, the last that is one counts,
    /// and keeps the charset of an equal one before it (Fetch, "extract a MIME type").
    init(contentType field: String) {
        self.init(field)
        guard field.utf8.contains(UInt8(ascii: ",")) else { return }
        var last: FieldParameters?
        for part in Self.parts(of: field) {
            var type = FieldParameters(part)
            guard type.isMediaType else { continue }
            if let last, HeaderNames.areEqual(last.value, type.value), type["charset"] == nil {
                type.parameters += last.parameters.filter { HeaderNames.areEqual($0.name, "charset") }
            }
            last = type
        }
        if let last { self = last }
    }

    /// Whether the value is a type and a subtype, and not any type.
    private var isMediaType: Bool {
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && value != "*/*"
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { $0 > 0x20 && !#"(),/:;<=>?@[\]{}""#.utf8.contains($0) && $0 < 0x7F }
            }
    }

    /// Splits a list at commas outside of quoted strings.
    private static func parts(of field: String) -> [String] {
        var (parts, start, isQuoted, isEscaped) = ([String](), field.startIndex, false, false)
        for index in field.utf8.indices {
            let octet = field.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if octet == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                isEscaped = octet == UInt8(ascii: "\\")
            } else if octet == UInt8(ascii: ",") {
                parts.append(String(field[start..<index]))
                start = field.utf8.index(after: index)
            }
        }
        return parts + [String(field[start...])]
    }

    /// Names are compared without case.
    subscript(name: String) -> String? {
        parameters.first { HeaderNames.areEqual($0.name, name) }?.value
    }

    private static func take(
        _ rest: inout Substring.UTF8View,
        until isEnd: (UInt8) -> Bool
    ) -> Substring.UTF8View {
        let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE (RFC 9110 §5.6.4)
    private static func takeQuoted(_ rest: inout Substring.UTF8View) -> String {
        rest = rest.dropFirst()
        var octets: [UInt8] = []
        while let octet = rest.popFirst(), octet != UInt8(ascii: "\"") {
            octets.append(octet == UInt8(ascii: "\\") ? rest.popFirst() ?? octet : octet)
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Takes an unquoted value. A backslash escapes a semicolon, a quotation mark or a backslash after it, as in
    /// Foundation; a token holds no backslash.
    private static func takeUnquoted(_ rest: inout Substring.UTF8View) -> String {
        var octets: [UInt8] = []
        while let octet = rest.first, octet != UInt8(ascii: ";") {
            rest = rest.dropFirst()
            guard octet == UInt8(ascii: "\\"), let next = rest.first, #";"\"#.utf8.contains(next) else {
                octets.append(octet)
                continue
            }
            octets.append(next)
            rest = rest.dropFirst()
        }
        return trimmed(Substring(decoding: octets, as: UTF8.self).utf8)
    }

    private static func trimmed(_ octets: Substring.UTF8View) -> String {
        let start = octets.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex
        return String(Substring(start[..<end]))
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }
}
