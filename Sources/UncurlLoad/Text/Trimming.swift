internal import UncurlHTTP1

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The text without blanks and tabs at both ends.
    package var trimmed: String { String(decoding: utf8.withoutBlanks, as: UTF8.self) }
}
