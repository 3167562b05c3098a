internal import UncurlHTTP1

/// Several Set-Cookie fields that were joined with commas or line feeds, as a dictionary of fields has to join them. A
/// comma in a date does not separate two fields: after one that does, a token and an equals sign follow.
public enum FoldedSetCookie {
    /// Returns the lines that were joined, in their order, without blank ones.
    public static func split(_ text: String) -> [String] {
        text.utf8.split { $0 == 0x0A || $0 == 0x0D }.flatMap { splitAtCommas(Array($0)) }
    }

    private static func splitAtCommas(_ octets: [UInt8]) -> [String] {
        var lines: [String] = []
        var start = 0
        var position = 0
        while position < octets.count {
            switch octets[position] {
            case UInt8(ascii: ",") where beginsCookie(octets, position + 1):
                lines.append(String(decoding: octets[start..<position], as: UTF8.self))
                position += 1
                start = position
            case UInt8(ascii: "="):
                position = endOfQuoted(octets, position + 1)
            default:
                position += 1
            }
        }
        lines.append(String(decoding: octets[start...], as: UTF8.self))
        return lines.filter { line in !line.utf8.allSatisfy(\.isBlankOctet) }
    }

    private static func beginsCookie(_ octets: [UInt8], _ start: Int) -> Bool {
        let rest = octets[start...].drop(while: \.isBlankOctet)
        let afterName = rest.drop(while: \.isTokenOctet)
        return afterName.startIndex > rest.startIndex
            && afterName.first { !$0.isBlankOctet } == UInt8(ascii: "=")
    }

    /// Returns the end of a quoted value. It may hold commas if its closing quote comes before the next semicolon, and
    /// a comma, a semicolon or nothing follows.
    private static func endOfQuoted(_ octets: [UInt8], _ start: Int) -> Int {
        guard start < octets.count, octets[start] == UInt8(ascii: "\""),
            let end = octets[(start + 1)...].firstIndex(of: UInt8(ascii: "\""))
        else { return start }
        let next = octets[(end + 1)...].first { !$0.isBlankOctet }
        let isEnd = next == nil || next == UInt8(ascii: ";") || next == UInt8(ascii: ",")
        return isEnd && !octets[start..<end].contains(UInt8(ascii: ";")) ? end + 1 : start
    }

}
