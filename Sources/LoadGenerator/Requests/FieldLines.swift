/// Header fields as lines, each as `Name: value`.
extension [String] {
    /// These lines, and each of `others` whose name none of these has.
    package func adding(_ others: [String]) -> [String] {
        guard !others.isEmpty else { return self }
        let names = Set(map(Self.name))
        return self + others.filter { !names.contains(Self.name($0)) }
    }

    /// The name in lower case, as octets.
    private static func name(_ line: String) -> [UInt8] { [UInt8](line.prefix(before: ":").lowercased().utf8) }
}
