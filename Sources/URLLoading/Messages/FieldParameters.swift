internal import UncurlHTTP1

/// A field value with parameters: `text/html; charset="utf-8"` (RFC 9110 §5.6.6).
///
/// It is read as servers write it: blanks are allowed around the equals sign, a quoted string that never ends takes the
/// rest, and text that is no parameter is skipped. Of several parameters of one name the first counts.
struct FieldParameters {
    /// The text before the first semicolon, without blanks at its ends.
    let value: String
    private var parameters: [(name: String, value: String)] = []

    init(_ field: some StringProtocol) {
        var reader = FieldReader(field.utf8)
        value = Self.text(reader.take { $0 != UInt8(ascii: ";") }.withoutBlanks)
        while reader.take(UInt8(ascii: ";")) {
            let name = reader.take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.withoutBlanks
            guard reader.take(UInt8(ascii: "=")) else { continue }
            reader.skipBlanks()
            if let quoted = reader.quotedString() {
                parameters.append((Self.text(name), Self.text(quoted.text)))
                reader.take { $0 != UInt8(ascii: ";") }
            } else {
                parameters.append((Self.text(name), Self.unquoted(&reader)))
            }
        }
    }

    /// Reads Content-Type. Of several types, which a proxy may have joined with commas, the last that is one counts,
    /// and keeps the charset of an equal one before it (Fetch, "extract a MIME type").
    init(contentType field: String) {
        self.init(field)
        guard field.utf8.contains(UInt8(ascii: ",")) else { return }
        var last: FieldParameters?
        for part in FieldReader.members(of: field) {
            var type = FieldParameters(part)
            guard type.isMediaType else { continue }
            if let last, last.value.isSameName(as: type.value), type["charset"] == nil {
                type.parameters += last.parameters.filter { $0.name.isSameName(as: "charset") }
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

    /// Names are compared without case.
    subscript(name: String) -> String? {
        parameters.first { $0.name.isSameName(as: name) }?.value
    }

    /// Takes an unquoted value. A backslash escapes a semicolon, a quotation mark or a backslash after it, as in
    /// Foundation; a token holds no backslash.
    private static func unquoted(_ reader: inout FieldReader) -> String {
        var octets: [UInt8] = []
        while let octet = reader.next, octet != UInt8(ascii: ";") {
            reader.position += 1
            guard octet == UInt8(ascii: "\\"), let next = reader.next, #";"\"#.utf8.contains(next) else {
                octets.append(octet)
                continue
            }
            octets.append(next)
            reader.position += 1
        }
        return text(octets.withoutBlanks)
    }

    private static func text(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }
}
