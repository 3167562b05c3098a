/// A URI reference in its five parts (RFC 3986 §3 and appendix B), and how it is resolved against a base (§5.2). Octets,
/// not characters: what servers send is not always text.
struct URIReference: Hashable, Sendable {
    var scheme: ArraySlice<UInt8>?
    var authority: ArraySlice<UInt8>?
    var path: ArraySlice<UInt8>
    var query: ArraySlice<UInt8>?
    var fragment: ArraySlice<UInt8>?

    init(_ text: [UInt8]) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[(hash + 1)...]
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        // §3.1: a letter, then letters, digits, "+", "-" and "."; a colon elsewhere belongs to the path.
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon]
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            let start = rest.startIndex + 2
            let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[start..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// §5.2.2. The fragment is the reference's own.
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.first == UInt8(ascii: "/") {
            target.path = Self.withoutDotSegments(path)
        } else {
            target.path = Self.withoutDotSegments(base.merged(with: path))
        }
        return target
    }

    /// §5.3.
    var bytes: [UInt8] {
        var result: [UInt8] = []
        if let scheme { result += scheme + [UInt8(ascii: ":")] }
        if let authority { result += Array("//".utf8) + authority }
        result += path
        if let query { result += [UInt8(ascii: "?")] + query }
        if let fragment { result += [UInt8(ascii: "#")] + fragment }
        return result
    }

    /// §5.2.3.
    private func merged(with reference: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if authority != nil, path.isEmpty { return ([UInt8(ascii: "/")] + reference)[...] }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return reference }
        return (path[...slash] + reference)[...]
    }

    /// §5.2.4, with a list of segments in place of its two buffers: linear, whatever a server sends.
    static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isAbsolute = path.first == UInt8(ascii: "/")
        let segments = path.dropFirst(isAbsolute ? 1 : 0).split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append([]) }
            } else if segment.elementsEqual(".".utf8) {
                if isLast { kept.append([]) }
            } else {
                kept.append(segment)
            }
        }
        let joined = Array(kept.joined(separator: [UInt8(ascii: "/")]))
        return isAbsolute ? ([UInt8(ascii: "/")] + joined)[...] : joined[...]
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
    }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
}
