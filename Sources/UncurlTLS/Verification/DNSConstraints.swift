/// Name constraints on DNS names (RFC 5280 §4.2.1.10), in the cases that OpenSSL's own check, which every path has
/// passed before, does not cover.
///
/// - A wildcard stands for every name of one label more. OpenSSL compares it as text, and so lets `*.a.example` pass an
///   excluded `www.a.example` (CVE-2025-61727 was the same fault of Go's).
/// - A text that is no name is neither inside nor outside: under constraints it is refused, as by Go and by webpki.
///
/// A constraint may begin with a dot: Go, webpki and OpenSSL read it as "below, and not the name itself". Names are
/// compared without regard to case.
struct DNSConstraints {
    enum Fault {
        case notAName
        case coversExcluded
    }

    /// RFC 1035 §2.3.4.
    private static let labelLimit = 63
    private static let nameLimit = 253

    /// Whether there is at least one constraint.
    private(set) var isAny = false
    /// The parents of the excluded names: a wildcard below one of them stands for an excluded name.
    private var aboveExcluded: Set<[UInt8]> = []

    /// Adds a constraint. Returns false if it is none that could be applied.
    ///
    /// - Parameter isStrict: Whether a dot at the beginning is refused, which RFC 5280 does not have.
    mutating func add(_ constraint: [UInt8], isExcluded: Bool, isStrict: Bool) -> Bool {
        isAny = true
        // An empty constraint covers all names.
        if constraint.isEmpty { return true }
        let isDotted = constraint.first == UInt8(ascii: ".")
        let name = constraint.map(Self.lowered)
        guard Self.isName(isDotted ? name.dropFirst() : name[...]), !(isDotted && isStrict) else { return false }
        if isExcluded, !isDotted, let dot = name.firstIndex(of: UInt8(ascii: ".")) {
            aboveExcluded.insert(Array(name[(dot + 1)...]))
        }
        return true
    }

    /// Returns what is wrong with a name in a certificate below the constraints.
    func fault(_ name: [UInt8]) -> Fault? {
        guard isAny else { return nil }
        let name = name.map(Self.lowered)
        guard name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) else {
            return Self.isName(name[...]) ? nil : .notAName
        }
        let rest = name.dropFirst(2)
        guard Self.isName(rest) else { return .notAName }
        return aboveExcluded.contains(Array(rest)) ? .coversExcluded : nil
    }

    /// Returns whether the labels are of letters, digits, hyphens and underscores, without a dot at either end.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= nameLimit else { return false }
        return name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            1...labelLimit ~= label.count && label.allSatisfy(isNameByte)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
