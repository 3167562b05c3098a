/// Returns a user's text for a message: quoted, on one line, and short enough to leave the message readable.
package func quoted(_ text: some StringProtocol) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { escaped.append("\\") }
        escaped.append(scalar)
    }
    return "\"" + oneLine(String(escaped)) + "\""
}

/// Returns a user's or a peer's text with its control characters escaped, so that it cannot control a terminal. The
/// text is cut after `limit` characters.
package func oneLine(_ text: some StringProtocol, limit: Int = 96) -> String {
    var out = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
        guard index < limit else { return out + "…" }
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: out += "\\u{\(String(scalar.value, radix: 16))}"
        default: out.unicodeScalars.append(scalar)
        }
    }
    return out
}
