internal import UncurlHTTP1

/// The protocols that a request offers to switch to, and whether an answer accepts one of them (RFC 9110 §7.8).
struct UpgradeOffer: Sendable {
    /// `name` or `name/version`, as given.
    private let protocols: [String]

    /// Nothing is offered.
    init() { protocols = [] }

    /// Nil if one of them is no protocol.
    init?(_ protocols: [String]) {
        guard protocols.allSatisfy(UpgradeOffer.isProtocol) else { return nil }
        self.protocols = protocols
    }

    var isEmpty: Bool { protocols.isEmpty }
    var fieldValue: String { protocols.joined(separator: ", ") }

    /// Whether an answer accepts the offer. Case is ignored (§16.7: protocols are registered case-sensitively and
    /// matched without case). It must name at least one protocol, and none that was not offered.
    func isTaken(by head: ResponseHead) -> Bool {
        let taken = head.fields.listMembers(of: "Upgrade").map { $0.ascii?.lowercased() }
        let offered = protocols.map { Optional($0.lowercased()) }
        return !taken.isEmpty && taken.allSatisfy(offered.contains)
    }

    /// protocol = protocol-name ["/" protocol-version], both tokens.
    private static func isProtocol(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isTokenOctet) }
    }
}
