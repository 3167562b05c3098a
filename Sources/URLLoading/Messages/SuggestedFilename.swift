internal import Foundation
internal import UncurlHTTP1
internal import UncurlText

/// The name under which a response might be saved. Whatever the server says, it is a file's name and never a path.
extension ResponseValues {
    /// Returns the server's name (RFC 6266), or else the last part of the URL's path, or else `Unknown`.
    static func filename(of url: URL?, contentDisposition: String?) -> String {
        contentDisposition.flatMap(stated) ?? url.flatMap(last).flatMap(sanitized) ?? "Unknown"
    }

    /// Returns the last part of the path. A URL with no slash after its scheme (`data:…`, `mailto:…`) has no parts.
    private static func last(of url: URL) -> String? {
        let text = url.absoluteString.utf8
        if url.scheme != nil, let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].dropFirst().first != UInt8(ascii: "/")
        {
            return nil
        }
        return url.lastPathComponent
    }

    /// Returns the server's name: `filename*` if it can be read, or else `filename` (RFC 6266 §4.3).
    private static func stated(_ contentDisposition: String) -> String? {
        let field = FieldParameters(contentDisposition)
        return field["filename*"].flatMap(extended).flatMap(sanitized) ?? field["filename"].flatMap(sanitized)
    }

    /// Returns the last part of a path, on Linux or on Windows, for a name in an archive.
    static func lastPart(of path: String) -> String? {
        path.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.last
            .flatMap { sanitized(String(Substring($0))) }
    }

    /// ext-value = charset "'" [ language ] "'" value-chars (RFC 8187 §3.2). UTF-8 is the charset that every recipient
    /// must know; ISO-8859-1 was another until RFC 8187. Nil for other charsets, and for text that breaks their rules.
    private static func extended(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let octets = parts[2].percentDecoded() else { return nil }
        let charset = String(Substring(parts[0]))
        if charset.isSameName(as: "utf-8") { return String(validating: octets, as: UTF8.self) }
        guard charset.isSameName(as: "iso-8859-1") else { return nil }
        return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }

    /// The longest name of a directory entry on Linux (NAME_MAX), in octets.
    private static let maximumLength = 255
    /// The longest extension that is kept, in octets, with its dot.
    private static let longestExtension = 32

    /// Returns a name that is safe to use; nil if nothing is left that names a file. Separators become underscores, as
    /// does a dot at the front, which would hide the file. Control characters are removed, and so are the marks that
    /// turn the direction of writing: with them `exe.txt` can be made to look like its own reverse.
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
        // A root's URL ends in "/" and names no file; nor do ".", ".." and the like.
        let dot = UInt8(ascii: ".")
        guard clean.utf8.contains(where: { $0 != dot }), !name.utf8.elementsEqual("/".utf8) else { return nil }
        return shortened(clean.utf8.first == dot ? "_" + Substring(clean.utf8.dropFirst()) : clean)
    }

    /// Cuts a long name before its extension, if that is short enough to be one.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumLength else { return name }
        let dot = name.utf8.suffix(longestExtension).lastIndex(of: UInt8(ascii: "."))
        let rest = name[(dot ?? name.endIndex)...]
        return start(of: name, atMost: maximumLength - rest.utf8.count) + rest
    }

    /// Returns as many whole characters as fit into `room` octets, and of a character that alone is longer, as many
    /// scalars. Reads no more of the name than that: a search for characters from the end of a long text may begin at
    /// its start for each of them.
    private static func start(of name: String, atMost room: Int) -> String {
        // One scalar more than fits is read: whether a character ends depends on what follows it.
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

extension Collection<UInt8> {
    /// Returns the octets with each escape decoded (RFC 3986 §2.1); nil if one is not followed by two digits.
    func percentDecoded() -> [UInt8]? {
        var octets: [UInt8] = []
        octets.reserveCapacity(count)
        var rest = makeIterator()
        while let octet = rest.next() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            // Each digit is read by itself: a number parser would accept a sign.
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }
}
