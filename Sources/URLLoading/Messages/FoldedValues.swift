/// Field values that a program has set folded into several lines, as `a CR LF SP b`. A request keeps them as they were
/// set, and sends each fold as one space (RFC 9112 §5.2: no sender may generate a fold).
struct FoldedValues {
    /// The values as they were set, by the field's name in lower case.
    private var values: [String: String] = [:]

    /// Returns the value as it was set, for a field that is sent with `sent`; `sent` itself if another value was set.
    func asSet(_ name: String, sent: String) -> String {
        guard !values.isEmpty, let value = values[name.lowercased()], FoldedValues.unfolded(value) == sent else {
            return sent
        }
        return value
    }

    /// Keeps the value if it is folded.
    mutating func keep(_ value: String, of name: String) {
        if value.utf8.contains(FoldedValues.carriageReturn) {
            values[name.lowercased()] = value
        } else if !values.isEmpty {
            values[name.lowercased()] = nil
        }
    }

    private static let carriageReturn = UInt8(ascii: "\r")

    /// Replaces each CR LF with a blank after it, and all blanks around it, by one space; at the value's ends by
    /// nothing. Other line ends stay, and are refused where fields are checked.
    static func unfolded(_ value: String) -> String {
        guard value.utf8.contains(carriageReturn) else { return value }
        let octets = Array(value.utf8)
        var result: [UInt8] = []
        var position = 0
        while position < octets.count {
            guard isFold(octets, position) else {
                result.append(octets[position])
                position += 1
                continue
            }
            while let last = result.last, isBlank(last) { result.removeLast() }
            position += 2
            while position < octets.count, isBlank(octets[position]) { position += 1 }
            if !result.isEmpty, position < octets.count { result.append(UInt8(ascii: " ")) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isFold(_ octets: [UInt8], _ position: Int) -> Bool {
        octets[position] == carriageReturn && position + 2 < octets.count
            && octets[position + 1] == UInt8(ascii: "\n") && isBlank(octets[position + 2])
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
}
