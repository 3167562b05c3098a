/// Where in `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` an octet stands.
enum ChunkExtension: Sendable, Equatable {
    case afterSize
    case beforeName
    case name
    case afterName
    case beforeValue
    case value
    case quoted
    case quotedPair
    case closed
    case afterValue

    /// Whether the line may end here. Not behind blanks: the grammar has none that nothing follows.
    var mayEnd: Bool {
        switch self {
        case .name, .value, .closed: true
        case .afterSize, .beforeName, .afterName, .beforeValue, .quoted, .quotedPair, .afterValue: false
        }
    }

    /// The place after this octet, nil if it may not stand here.
    func next(_ octet: UInt8) -> ChunkExtension? {
        switch self {
        case .afterSize: between(octet, self)
        case .beforeName: ASCII.isBlank(octet) ? .beforeName : ASCII.isToken(octet) ? .name : nil
        case .name:
            ASCII.isToken(octet) ? .name : octet == ASCII.equals ? .beforeValue : between(octet, .afterName)
        case .afterName: octet == ASCII.equals ? .beforeValue : between(octet, .afterName)
        case .beforeValue:
            ASCII.isBlank(octet)
                ? .beforeValue : octet == ASCII.quote ? .quoted : ASCII.isToken(octet) ? .value : nil
        case .value: ASCII.isToken(octet) ? .value : between(octet, .afterValue)
        case .quoted:
            octet == ASCII.quote
                ? .closed : octet == ASCII.backslash ? .quotedPair : ASCII.isValue(octet) ? .quoted : nil
        case .quotedPair: ASCII.isValue(octet) ? .quoted : nil
        case .closed, .afterValue: between(octet, .afterValue)
        }
    }

    private func between(_ octet: UInt8, _ afterBlank: ChunkExtension) -> ChunkExtension? {
        octet == ASCII.semicolon ? .beforeName : ASCII.isBlank(octet) ? afterBlank : nil
    }
}
