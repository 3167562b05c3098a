@testable import UncurlText

/// Something that reads octets that others have written. Whatever they are, it ends, without a trap, in time that grows
/// with their number.
public struct Reader: Sendable {
    /// What is read, as `./dev fuzz` knows it.
    public let name: String
    /// The file that reads, as a path below `Sources` without the file's extension. `./dev fuzz coverage` measures it.
    public let source: String
    /// What else the file does, so that no input reaches all of it. Empty if an input can.
    public let rest: String
    /// Reads the octets. Ends the process where a property of what was read does not hold.
    public let read: @Sendable ([UInt8]) -> Void

    init(_ name: String, of source: String, rest: String = "", _ read: @escaping @Sendable ([UInt8]) -> Void) {
        (self.name, self.source, self.rest, self.read) = (name, source, rest, read)
    }

    /// Of text: octets that are no UTF-8 come as replacement characters.
    init(_ name: String, of source: String, rest: String = "", text read: @escaping @Sendable (String) -> Void) {
        self.init(name, of: source, rest: rest) { read(String(decoding: $0, as: UTF8.self)) }
    }

    /// Every reader, by the room that it belongs to.
    public static let all = messages + connections + security + stores + facade + extras + loadTests + volley
}

/// Ends the process where a property does not hold: the fuzzer takes that for a finding, a test run for a failure.
func require(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError("property violated: \(sentence())") }
}

/// Whether a text has a word.
func has(_ text: String, _ word: String) -> Bool {
    ByteSearch(Array(word.utf8)).first(in: Array(text.utf8)) != nil
}

/// Whether a text could end a line of a head.
func holdsLineEnd(_ text: String) -> Bool { text.utf8.contains { $0 == 13 || $0 == 10 || $0 == 0 } }
