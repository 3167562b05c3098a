/// Name constraints on DNS names, as far as OpenSSL's own check, which every path has passed before, does not see to
/// them (RFC 5280 §4.2.1.10).
///
/// - A wildcard stands for every name of one label more. OpenSSL compares it as it is written, and so lets
///   `*.a.example` pass an excluded `www.a.example` (CVE-2025-61727 was the same fault of Go's).
/// - What is no name cannot be told to be inside or outside: under constraints it is refused, as by Go and by webpki.
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

    /// There is at least one.
    private(set) var isAny = false
    /// The names above those that are excluded: a wildcard below one of them stands for an excluded name.
    private var aboveExcluded: Set<[UInt8]> = []

    /// False: it is no constraint that could be kept to.
    ///
    /// - Parameter isStrict: RFC 5280 knows no dot at the beginning.
    mutating func add(_ constraint: [UInt8], isExcluded: Bool, isStrict: Bool) -> Bool {
        isAny = true
        // All names there are.
        if constraint.isEmpty { return true }
        let isDotted = constraint.first == UInt8(ascii: ".")
        let name = constraint.map(Self.lowered)
        guard Self.isName(isDotted ? name.dropFirst() : name[...]), !(isDotted && isStrict) else { return false }
        if isExcluded, !isDotted, let dot = name.firstIndex(of: UInt8(ascii: ".")) {
            aboveExcluded.insert(Array(name[(dot + 1)...]))
        }
        return true
    }

    /// What is wrong with a name that a certificate below the constraints bears.
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

    /// Labels of letters, digits, hyphens and underscores, without a dot at either end.
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
