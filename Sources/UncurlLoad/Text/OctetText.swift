/// A text that compares by its octets.
///
/// `String` compares and hashes by canonical equivalence, in time that grows with the square of a run of combining
/// marks. So a name or a value from a file or a peer is compared, and is a key, in this form.
package struct OctetText: Hashable, Sendable, ExpressibleByStringLiteral {
    private let octets: [UInt8]

    package init(_ text: some StringProtocol) { octets = Array(text.utf8) }
    package init(stringLiteral text: String) { self.init(text) }
}
