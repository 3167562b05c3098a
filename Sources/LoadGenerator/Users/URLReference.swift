import HTTPEngine

/// A `Location`, resolved against the URL that answered with it (RFC 3986 §5.2, RFC 9110 §10.2.2).
enum URLReference {
    static func resolve(_ reference: String, against base: HTTPURL) -> HTTPURL? {
        let text = String(reference.trimmed.prefix { $0 != "#" })
        let root = "\(base.scheme.rawValue)://\(base.origin.authority)"
        if text.isEmpty { return base }
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains(where: { "/?".contains($0) }) {
            return try? HTTPURL(text)
        }
        if text.hasPrefix("//") { return try? HTTPURL("\(base.scheme.rawValue):\(text)") }
        let path = base.target.prefix { $0 != "?" }
        if text.hasPrefix("?") { return try? HTTPURL(root + path + text) }
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let joined = text.hasPrefix("/") ? text[..<end] : directory(of: path) + text[..<end]
        return try? HTTPURL(root + withoutDots(joined) + text[end...])
    }

    /// With its last slash.
    private static func directory(of path: Substring) -> Substring {
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return path[...slash]
    }

    /// §5.2.4.
    private static func withoutDots(_ path: Substring) -> String {
        var out: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { out.append("") }
            case "..":
                _ = out.popLast()
                if isLast { out.append("") }
            default: out.append(segment)
            }
        }
        return "/" + out.joined(separator: "/")
    }
}
