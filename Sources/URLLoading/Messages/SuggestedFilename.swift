internal import Foundation

/// The name under which a response might be saved. Whatever the server says, it is the name of a file and no path.
enum SuggestedFilename {
    /// The one the server gives (RFC 6266), else the last part of the URL's path, else `Unknown`.
    static func of(url: URL?, contentDisposition: String?) -> String {
        contentDisposition.flatMap(stated) ?? url.flatMap(last).flatMap(sanitized) ?? "Unknown"
    }

    /// The last part of the path. A URL whose scheme no slash follows (`data:…`, `mailto:…`) has no parts.
    private static func last(of url: URL) -> String? {
        let text = url.absoluteString.utf8
        if url.scheme != nil, let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].dropFirst().first != UInt8(ascii: "/")
        {
            return nil
        }
        return url.lastPathComponent
    }

    /// `filename*` is preferred to `filename` (RFC 6266 §4.3).
    private static func stated(_ contentDisposition: String) -> String? {
        let field = FieldParameters(contentDisposition)
        return field["filename*"].flatMap(extended).flatMap(lastPart) ?? field["filename"].flatMap(lastPart)
    }

    /// Of a path, on Linux or on Windows, the last part (RFC 6266 §4.3).
    private static func lastPart(of path: String) -> String? {
        path.split { $0 == "/" || $0 == "\\" }.last.flatMap { sanitized(String($0)) }
    }

    /// ext-value = charset "'" [ language ] "'" value-chars (RFC 8187 §3.2). UTF-8 is the one every recipient must
    /// know; ISO-8859-1 was another until RFC 8187. nil for others, and for what breaks their rules.
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let octets = percentDecoded(parts[2]) else { return nil }
        if HeaderNames.areEqual(String(parts[0]), "utf-8") { return String(validating: octets, as: UTF8.self) }
        guard HeaderNames.areEqual(String(parts[0]), "iso-8859-1") else { return nil }
        return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = text.utf8
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            // Both digits checked on their own: a number parser would take a sign for one.
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        Character(Unicode.Scalar(octet)).hexDigitValue.map { UInt8(truncatingIfNeeded: $0) }
    }

    /// What a directory entry may hold on Linux (NAME_MAX), in octets.
    private static let maximumLength = 255
    /// Of an extension, in octets, with its dot.
    private static let longestExtension = 32

    /// Separators become underlines, as does a dot at the front, which would hide the file; controls go, and the marks
    /// that turn the direction of writing, with which `exe.txt` can be made to look its own reverse. nil if nothing
    /// is left that names a file.
    static func sanitized(_ name: String) -> String? {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar.value {
            case 0x2F, 0x5C: scalars.append("_")
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: continue
            default: scalars.append(scalar)
            }
        }
        let clean = String(scalars).trimmingCharacters(in: .whitespaces)
        // The URL of a root ends in "/" and names nothing; nor do ".", ".." and their like.
        guard clean.contains(where: { $0 != "." }), name != "/" else { return nil }
        return shortened(clean.hasPrefix(".") ? "_" + clean.dropFirst() : clean)
    }

    /// Cut before the extension, if that is short enough to be one.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumLength else { return name }
        let dot = name.utf8.suffix(longestExtension).lastIndex(of: UInt8(ascii: "."))
        let rest = name[(dot ?? name.endIndex)...]
        return start(of: name, atMost: maximumLength - rest.utf8.count) + rest
    }

    /// As many whole characters as fit into `room` octets; of a character that alone is longer, as many scalars. Reads
    /// no more of the name than that: a search for characters from the end of a long text may begin at its start for
    /// each of them.
    private static func start(of name: String, atMost room: Int) -> String {
        // One more than fits: whether a character ends depends on what follows it.
        let start = String(name.unicodeScalars.prefix(room + 1))
        var (count, characters) = (0, "")
        for character in start {
            count += character.utf8.count
            guard count <= room else { break }
            characters.append(character)
        }
        guard characters.isEmpty else { return characters }
        var scalars = String.UnicodeScalarView()
        count = 0
        for scalar in start.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= room else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
