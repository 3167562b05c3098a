import URLLoading

@testable import Uncurl

/// What answers hold.
extension Reader {
    static let facade = [
        Reader("server-sent-events", of: "Uncurl/Streams/ServerSentEvent", events),
        Reader("json-value", of: "Uncurl/Content/JSONValue") { octets in
            guard let value = try? JSONValue(reading: Data(octets)) else { return }
            require((try? JSONValue(reading: value.data)) == value, "a value is written and read as it was")
        },
        Reader("binary-property-list", of: "Uncurl/ResponseSerializers/PropertyListValue") { octets in
            for list in [octets, Array("bplist00".utf8) + octets] { _ = try? BinaryPropertyList.value(of: Data(list)) }
        },
        Reader(
            "media-range",
            of: "Uncurl/Fields/HTTPHeaders",
            text: { text in
                for name in MediaRange.accepted(by: text) {
                    guard let range = MediaRange(name) else { fatalError("property violated: no range: \(name)") }
                    require(range.contains(range), "a range contains itself: \(name)")
                    _ = range.isEverything
                }
            }
        ),
        Reader(
            "host-pattern",
            of: "Uncurl/Security/HostPolicies",
            text: { text in
                guard let pattern = try? HostPattern(text) else { return }
                require(!HostPattern.precedes(pattern, pattern), "a pattern does not precede itself: \(text)")
                for host in ["a.test", "b.a.test", "", text] { _ = pattern.matches(host) }
            }
        ),
        Reader(
            "public-key-pin",
            of: "Uncurl/Security/TrustedCertificate",
            rest: "its coding",
            text: { text in
                guard let pin = try? PublicKeyPin(text) else { return }
                require((try? PublicKeyPin(pin.description)) == pin, "a pin is written as it was read: \(text)")
            }
        ),
    ]

    /// However the octets come in pieces, the events are the same.
    private static func events(_ octets: [UInt8]) {
        guard let first = octets.first else { return }
        let stream = octets.dropFirst()
        let length = Int(first) + 1
        var (whole, parts) = ([ServerSentEvent](), [ServerSentEvent]())
        var (one, other) = (ServerSentEventParser(limit: 1 << 16), ServerSentEventParser(limit: 1 << 16))
        let isTaken = (try? one.take(stream, into: &whole)) != nil
        var isTakenInParts = true
        for start in stride(from: stream.startIndex, to: stream.endIndex, by: length) where isTakenInParts {
            let end = min(start + length, stream.endIndex)
            isTakenInParts = (try? other.take(stream[start..<end], into: &parts)) != nil
        }
        require(isTaken == isTakenInParts && whole == parts, "pieces make no difference")
    }
}
