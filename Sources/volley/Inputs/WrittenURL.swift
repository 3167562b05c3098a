import UncurlHTTP1
import UncurlLoad
import UncurlText

/// URLs as browsers and logs write them: with octets that no URL may hold (RFC 3986 §2), such as `?ids[]=1|2`.
extension RequestInput {
    /// Escapes them behind the host. A percent sign without two digits is escaped in a query, as in `?share=100%`. In a
    /// path, where servers refuse it, it remains.
    ///
    /// - Parameter keepingPlaceholders: whether a text such as `{{counter}}` remains, for `--template`.
    static func encoded(_ url: some StringProtocol, keepingPlaceholders: Bool = false) -> String {
        guard !url.utf8.allSatisfy({ isAllowed($0) && $0 != percent }) else { return String(url) }
        return encoded(Array(url.utf8), keepingPlaceholders: keepingPlaceholders)
    }

    /// The same for octets, which may be any.
    static func encoded(_ bytes: [UInt8], keepingPlaceholders: Bool = false) -> String {
        encoded(bytes, from: pathStart(bytes), isQuery: false, keepingPlaceholders)
    }

    /// Escapes them in a part of a query. Placeholders remain.
    static func encoded(query bytes: [UInt8]) -> String { encoded(bytes, from: 0, isQuery: true, true) }

    private static func encoded(_ bytes: [UInt8], from start: Int, isQuery: Bool, _ keepingPlaceholders: Bool) -> String
    {
        var (position, isQuery) = (start, isQuery)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        out += bytes[..<position]
        while position < bytes.count {
            if keepingPlaceholders, let end = placeholderEnd(bytes, position) {
                out += bytes[position..<end]
                position = end
                continue
            }
            let byte = bytes[position]
            position += 1
            isQuery = isQuery || byte == UInt8(ascii: "?")
            let isLonePercent = byte == percent && bytes[position...].prefix(2).count { hexValue(of: $0) != nil } < 2
            if isAllowed(byte), !(isQuery && isLonePercent) {
                out.append(byte)
            } else {
                appendPercentEncoded(byte, to: &out)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Whether it is a path, or a URL with its scheme.
    static func isComplete(_ url: String) -> Bool {
        url.utf8.first == UInt8(ascii: "/") || scheme(in: url.utf8) != nil
    }

    /// Whether the octet may be in a URL without an escape.
    private static func isAllowed(_ octet: UInt8) -> Bool {
        switch Unicode.Scalar(octet) {
        case "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", ":", "@", "/", "?", "%", "#": true
        default: isUnreservedOctet(octet)
        }
    }

    private static let (percent, colon) = (UInt8(ascii: "%"), UInt8(ascii: ":"))
    private static let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))

    /// The index of the first octet behind the host.
    static func pathStart(_ bytes: [UInt8]) -> Int {
        guard bytes.first != UInt8(ascii: "/"), let scheme = scheme(in: bytes) else { return 0 }
        return bytes[(scheme + 3)...].firstIndex(where: isHostEnd) ?? bytes.count
    }

    private static func isHostEnd(_ octet: UInt8) -> Bool {
        switch Unicode.Scalar(octet) {
        case "/", "?", "#": true
        default: false
        }
    }

    /// The index of the octet behind a scheme.
    private static func scheme<Octets: Collection<UInt8>>(in bytes: Octets) -> Octets.Index? {
        bytes.indices.first { bytes[$0] == colon && bytes[$0...].starts(with: "://".utf8) }
    }

    /// The end of a placeholder, such as `{{name}}`, that begins here. Its name has no braces.
    static func placeholderEnd(_ bytes: [UInt8], _ position: Int) -> Int? {
        guard bytes[position] == open, bytes[(position + 1)...].first == open else { return nil }
        let name = bytes[(position + 2)...].prefix { $0 != open && $0 != close }
        return bytes[name.endIndex...].starts(with: [close, close]) && !name.isEmpty ? name.endIndex + 2 : nil
    }
}

/// The fields of several `-H`, as in curl: `Name: value` and `Name;`, a field without a value, are sent, and `Name:`
/// leaves out the field that another flag, or the program itself, would add.
struct WrittenFields {
    /// The fields that are sent, each as `Name: value`.
    private(set) var lines: [String] = []
    /// The names of all fields, also of those that are left out, in lower case.
    private(set) var names: Set<String> = []

    /// Fields that volley must send.
    private static let needed: Set<String> = ["host", "content-length"]

    init(_ texts: [String] = []) throws(UsageError) {
        for text in texts { try add(text) }
    }

    mutating func add(_ text: String) throws(UsageError) {
        let name = text.prefix(before: ":").lowercased()
        let value = text.utf8.dropFirst(name.utf8.count)
        guard !value.isEmpty else { return addBare(text.trimmed) }
        if name.isASCII { names.insert(name) }
        let isLeftOut = value.dropFirst().allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        // A malformed name remains, to be refused like every other.
        guard isLeftOut, name.isToken else { return lines.append(text) }
        guard !Self.needed.contains(name) else {
            throw UsageError("-H \(quoted(text)) would leave out a field that each request needs: remove this -H")
        }
    }

    /// Adds a text without a colon. One that is no `Name;` remains, to be refused.
    private mutating func addBare(_ text: String) {
        guard text.ends(with: ";"), text.isASCII else { return lines.append(text) }
        names.insert(text.dropLast().lowercased())
        lines.append("\(text.dropLast()):")
    }

    func have(_ name: String) -> Bool { names.contains(name.lowercased()) }

    /// The lines, and each of `others` whose name none of these has.
    func adding(_ others: [String]) -> [String] { lines + absent(others) }

    /// Each of these lines whose name is in no `-H`.
    func absent(_ others: [String]) -> [String] { others.filter { !have(String($0.prefix(before: ":"))) } }
}
