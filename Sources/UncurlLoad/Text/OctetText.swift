internal import UncurlHTTP1

/// A text that compares by its octets.
///
/// `String` compares and hashes by canonical equivalence, in time that grows with the square of a run of combining
/// marks. So a name or a value from a file or a peer is compared, and is a key, in this form.
package struct OctetText: Hashable, Sendable, ExpressibleByStringLiteral {
    private let octets: [UInt8]

    package init(_ text: some StringProtocol) { octets = Array(text.utf8) }
    package init(stringLiteral text: String) { self.init(text) }
}

/// Texts octet by octet. The standard library compares and divides texts by characters: a character of many combining
/// marks takes it time that grows with the square of their number.
extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Whether each octet is ASCII. Two such texts are compared octet by octet.
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// Whether both have the same octets.
    package func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    package func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

    package func ends(with end: String) -> Bool { utf8.suffix(end.utf8.count).elementsEqual(end.utf8) }

    /// The parts between marks of one octet, at most `most` of them.
    package func parts(at mark: Unicode.Scalar, most: Int = .max, keepingEmpty: Bool = true) -> [Substring] {
        Substring(self).utf8
            .split(separator: UInt8(ascii: mark), maxSplits: most - 1, omittingEmptySubsequences: !keepingEmpty)
            .map { Substring($0) }
    }

    /// The text before the first of one or two octets; all of it if it has none.
    package func prefix(before mark: Unicode.Scalar, _ other: Unicode.Scalar? = nil) -> Substring {
        let (mark, other) = (UInt8(ascii: mark), UInt8(ascii: other ?? mark))
        return Substring(Substring(self).utf8.prefix { $0 != mark && $0 != other })
    }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    package var trimmed: String { String(decoding: utf8.withoutBlanks, as: UTF8.self) }
}

extension StringProtocol {
    /// Returns the text with `text` in the place of each `mark`, which is not empty. The standard library's `replacing`
    /// would link its regular expressions, 1.4 MB of a static program without Foundation.
    package func replacingEach(_ mark: String, by text: String) -> String {
        let (bytes, mark) = (Array(utf8), Array(mark.utf8))
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == mark.first, bytes[index...].starts(with: mark) {
                result += text.utf8
                index += mark.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    package func replacingEach(_ marks: KeyValuePairs<String, String>) -> String {
        marks.reduce(String(self)) { $0.replacingEach($1.key, by: $1.value) }
    }
}

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
