internal import UncurlHTTP1

/// Checks the characters of a header field. Characters outside the grammar could end the field or the message and begin
/// another.
enum FieldSyntax {
    /// A field value has no control characters but the tab (RFC 9110 §5.5).
    static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
    }

    static func isValid(_ field: HTTPHeaders.Field) -> Bool { field.name.isToken && isValue(field.value) }
}
